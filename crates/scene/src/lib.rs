//! Scenes as RON text: documents, generators, validation with file, line and column.
