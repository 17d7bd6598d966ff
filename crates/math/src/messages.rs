//! Messages of errors.

/// Writes `Display` and `Error` of an error: one message per pattern.
macro_rules! messages {
    ($error:ty { $($pattern:pat => $message:literal;)+ }) => {
        impl std::fmt::Display for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($pattern => write!(f, $message),)+
                }
            }
        }

        impl std::error::Error for $error {}
    };
}
