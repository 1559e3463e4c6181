//! Limits of the results that are sent to a model.

/// Limits of the results of one reply.
///
/// A result that exceeds a limit is truncated, and its text states what is missing. The [`RunResult`] stays complete.
///
/// [`RunResult`]: toolkit::RunResult
///
/// ```
/// use toolkit_providers::reply::ResultLimits;
///
/// let mut limits = ResultLimits::default();
/// assert_eq!((limits.result_bytes, limits.total_bytes), (64 << 10, 256 << 10));
/// limits.result_bytes = 4096;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultLimits {
    /// The maximum length of the text of one result in bytes. The default is 64 KiB, about 16,000 tokens.
    pub result_bytes: usize,
    /// The maximum length of the texts of all results in bytes, which is shared fairly. The default is 256 KiB.
    pub total_bytes: usize,
    /// The maximum size of an image, a sound or a file in bytes. A larger one becomes a note. The default is 5 MB.
    pub media_bytes: usize,
    /// The maximum number of images, sounds and files of all results. The default is 20.
    pub media_count: usize,
}

impl Default for ResultLimits {
    fn default() -> Self {
        Self { result_bytes: 64 << 10, total_bytes: 256 << 10, media_bytes: 5_000_000, media_count: 20 }
    }
}
