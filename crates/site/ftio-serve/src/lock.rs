//! One way to lock.

use std::sync::{Mutex, MutexGuard};

/// Also after a panic of a thread that held the lock.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
