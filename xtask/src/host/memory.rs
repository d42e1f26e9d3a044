//! How the C library's allocator treats what is freed.

/// Keeps memory that is freed for what is asked for next: contents of files come and
/// go by the dozen in a rendering, and to get each page anew from the kernel takes as
/// long as filling it. For a process that ends soon.
pub fn keep_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use nix::libc::{M_MMAP_THRESHOLD, M_TOP_PAD, M_TRIM_THRESHOLD, mallopt};
        for (option, bytes) in
            [(M_MMAP_THRESHOLD, 32 << 20), (M_TRIM_THRESHOLD, 64 << 20), (M_TOP_PAD, 1 << 20)]
        {
            // SAFETY: the allocator takes a lock of its own for this. A value that it
            // refuses leaves it as it was.
            #[allow(unsafe_code)]
            unsafe {
                mallopt(option, bytes);
            }
        }
    }
}
