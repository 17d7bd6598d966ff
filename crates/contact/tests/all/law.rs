//! The law of one contact: derivatives, definiteness, action and reaction.
