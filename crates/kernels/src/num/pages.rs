//! An allocator that asks for large pages for large arrays, and begins arrays with a cache line: reading a
//! matrix of many megabytes in order is then not held up at every 4096 bytes, and a register of eight numbers
//! is not read from two lines.
//!
//! It is the system's own but for that; programs name it as their global allocator.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with large pages for large arrays where the kernel gives them on request, and with
/// whole cache lines.
#[derive(Clone, Copy, Debug)]
pub struct LargePages;

/// Bytes from which an array is large.
const LARGE: usize = 8 << 20;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Bytes of arrays that begin with a line: smaller ones are not read by the register, and larger ones should
/// grow where they are.
const LINED: std::ops::Range<usize> = 512..1 << 17;

/// Bytes of a plain page.
#[cfg(target_os = "linux")]
const PAGE: usize = 4096;

// SAFETY: all memory comes from the system's allocator and goes back to it, by a layout that follows from the
// one given; advice changes nothing in it.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller asks for some bytes, and `lined` asks for as many.
        unsafe { advised(System.alloc(lined(layout)), layout.size()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller asks for some bytes, and `lined` asks for as many.
        unsafe { advised(System.alloc_zeroed(lined(layout)), layout.size()) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(new) = Layout::from_size_align(size, layout.align()) else { return std::ptr::null_mut() };
        if lined(layout).align() == lined(new).align() {
            // SAFETY: the block came from the system by this layout, and goes back by the new one, of equal
            // alignment; the caller asks for some bytes, and they fit a layout, as was just seen.
            return unsafe { advised(System.realloc(at, lined(layout), size), size) };
        }
        // SAFETY: both arrays are as long as what is copied.
        unsafe {
            let to = self.alloc(new);
            if !to.is_null() {
                std::ptr::copy_nonoverlapping(at, to, size.min(layout.size()));
                self.dealloc(at, layout);
            }
            to
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the block came from the system by this layout: `lined` gives the same for the same.
        unsafe { System.dealloc(at, lined(layout)) }
    }
}

/// The layout that the system is asked for.
#[inline(always)]
fn lined(layout: Layout) -> Layout {
    match LINED.contains(&layout.size()) {
        true => layout.align_to(LINE).unwrap_or(layout),
        false => layout,
    }
}

/// The array, after the kernel was told how it is read if it is large.
#[inline(always)]
fn advised(at: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !at.is_null() {
        advise(at, size);
    }
    at
}

#[cfg(target_os = "linux")]
#[cold]
fn advise(at: *mut u8, size: usize) {
    unsafe extern "C" {
        fn madvise(at: *mut std::ffi::c_void, length: usize, advice: std::ffi::c_int) -> std::ffi::c_int;
    }
    const HUGE_PAGES: std::ffi::c_int = 14;
    let skipped = at.align_offset(PAGE);
    let whole = size.saturating_sub(skipped) / PAGE * PAGE;
    // SAFETY: whole pages of an array that is ours; a kernel that knows no such pages says so, and nothing is
    // changed.
    unsafe { madvise(at.wrapping_add(skipped).cast(), whole, HUGE_PAGES) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_whole_and_keeps_its_numbers() {
        let size = LARGE + 12_345;
        let layout = Layout::from_size_align(size, 64).unwrap();
        // SAFETY: every address lies in the array of the size at hand, which is given back with its layout.
        unsafe {
            let at = LargePages.alloc_zeroed(layout);
            assert!((0..size).step_by(1000).all(|i| *at.add(i) == 0));
            (0..size).for_each(|i| *at.add(i) = i as u8);
            let larger = LargePages.realloc(at, layout, 2 * size);
            assert!((0..size).all(|i| *larger.add(i) == i as u8));
            LargePages.dealloc(larger, Layout::from_size_align(2 * size, 64).unwrap());
            let small = Layout::from_size_align(100, 8).unwrap();
            let at = LargePages.alloc(small);
            (0..100).for_each(|i| *at.add(i) = 1);
            LargePages.dealloc(at, small);
        }
    }

    #[test]
    fn arrays_of_numbers_begin_with_a_line_and_keep_them_as_they_grow_and_shrink() {
        let sizes = [8, 600, 511, LINED.end - 8, LINED.end, 1000, 16];
        let layout = |size: usize| Layout::from_size_align(size, 8).unwrap();
        // SAFETY: arrays of every size have the eight bytes that are touched, and each is given up by its
        // own layout.
        unsafe {
            let mut at = LargePages.alloc(layout(sizes[0]));
            (0..8).for_each(|i| *at.add(i) = i as u8);
            for pair in sizes.windows(2) {
                at = LargePages.realloc(at, layout(pair[0]), pair[1]);
                assert!(!LINED.contains(&pair[1]) || at.align_offset(LINE) == 0);
                assert!((0..8).all(|i| *at.add(i) == i as u8));
            }
            LargePages.dealloc(at, layout(16));
        }
    }
}
