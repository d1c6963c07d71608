//! Lower bounds on privacy loss.
