//! Random mechanisms, naive dense algebra and finite differences for the tests of Sinew.
