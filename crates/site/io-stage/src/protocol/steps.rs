//! Steps of the protocol that a test leaves out, one at a time, to see that the model notices.

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each is where it is used
pub enum Step {
    /// A copy that goes into the buffer replaces nothing.
    NoReplaceInwards,
    /// A version is known by its time of change too.
    TimeOfChange,
    /// A change after the first look has another time.
    Settle,
    /// The source is looked at again after it was read.
    LookAfterCopy,
    /// Where writes through mappings are not told, the source is read once more.
    ReadTwice,
    /// The draft is on the disk before it gets its name.
    SyncDraft,
    /// The folder of the copy is on the disk before the source goes.
    SyncFolder,
    /// So are those above it.
    SyncFoldersAbove,
    /// A file is removed only under a private name.
    SetAside,
    /// The folder for private names is on the disk before there is a file in it, and after there was.
    SyncAside,
    /// Under its private name it is looked at again.
    LookAtAside,
    /// Writers are asked for, before and after.
    Writers,
    /// Where writes through mappings are not told, the content is compared.
    CompareContent,
    /// Between the private name and the removal there is time for an `open` under way.
    Rest,
    /// What is put back replaces nothing.
    PutBackNoReplace,
    /// What a copy replaces is looked at again.
    LookAtReplaced,
}

#[cfg(test)]
thread_local! {
    static LEFT_OUT: std::cell::Cell<Option<Step>> = const { std::cell::Cell::new(None) };
}

/// This thread leaves a step out, until told otherwise.
#[cfg(test)]
pub fn leave_out(step: Option<Step>) {
    LEFT_OUT.set(step);
}

/// Is this step left out? Never, but in tests.
#[cfg(test)]
pub fn left_out(step: Step) -> bool {
    LEFT_OUT.get() == Some(step)
}

/// Is this step left out? Never, but in tests.
#[cfg(not(test))]
#[inline]
pub const fn left_out(_: Step) -> bool {
    false
}
