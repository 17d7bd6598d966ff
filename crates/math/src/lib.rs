//! Spatial algebra for articulated bodies: SE(3), spatial inertia, small dense blocks, mass properties.
