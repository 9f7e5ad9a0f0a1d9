//! Functions whose body is compiled for the widest vectors of the processor.

use crate::num::dispatch::View;
use crate::num::real::Packed;
use std::cell::Cell;

/// Defines a function that runs its body through [`crate::num::dispatch::best`]: `wide! { fn f<'a, T>(x: &'a
/// [T]) { ... } }`.
macro_rules! wide {
    ($(#[$meta:meta])* fn $name:ident<$life:lifetime, T>($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        fn $name<$life, T: $crate::num::real::Packed>($($arg: $ty),*) {
            struct Job<$life, T> {
                $($arg: $ty),*
            }
            impl<$life, T: $crate::num::real::Packed> $crate::num::dispatch::Work for Job<$life, T> {
                type Out = ();
                #[inline(always)]
                fn run(self) {
                    let Job { $($arg),* } = self;
                    $body
                }
            }
            $crate::num::dispatch::best(Job { $($arg),* });
        }
    };
}
pub(super) use wide;

/// The same on the registers of the processor, [`crate::num::dispatch::best_lanes`]: for arguments that are
/// slices of T, to read, to write or of cells, and plain places, sizes and flags.
macro_rules! wide_lanes {
    ($(#[$meta:meta])* fn $name:ident<$life:lifetime, T>($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        fn $name<$life, T: $crate::num::real::Packed>($($arg: $ty),*) {
            #[inline(always)]
            fn body<$life, T: $crate::num::real::Packed>($($arg: $ty),*) $body

            struct Job<$life, T> {
                $($arg: $ty),*
            }
            impl<$life, T: $crate::num::real::Packed> $crate::num::dispatch::LaneWork<T> for Job<$life, T> {
                type Out = ();
                #[inline(always)]
                fn run<U: $crate::num::real::Packed>(self, view: $crate::num::dispatch::View<T, U>) {
                    body::<U>($($crate::ops::array::wide::Through::through(self.$arg, view)),*);
                }
            }
            $crate::num::dispatch::best_lanes(Job { $($arg),* });
        }
    };
}
pub(super) use wide_lanes;

/// What an argument is where `U` stands for `T`.
pub(super) trait Through<T, U> {
    /// Its type there.
    type As;
    /// Itself, there.
    fn through(self, view: View<T, U>) -> Self::As;
}

impl<'a, T: Packed, U: Packed> Through<T, U> for &'a [T] {
    type As = &'a [U];
    #[inline(always)]
    fn through(self, view: View<T, U>) -> &'a [U] {
        view.slice(self)
    }
}

impl<'a, T: Packed, U: Packed> Through<T, U> for &'a mut [T] {
    type As = &'a mut [U];
    #[inline(always)]
    fn through(self, view: View<T, U>) -> &'a mut [U] {
        view.slice_mut(self)
    }
}

impl<'a, T: Packed, U: Packed> Through<T, U> for &'a [Cell<T>] {
    type As = &'a [Cell<U>];
    #[inline(always)]
    fn through(self, view: View<T, U>) -> &'a [Cell<U>] {
        view.cells(self)
    }
}

impl<'a, T, U> Through<T, U> for &'a [u32] {
    type As = &'a [u32];
    #[inline(always)]
    fn through(self, _: View<T, U>) -> &'a [u32] {
        self
    }
}

impl<T, U> Through<T, U> for usize {
    type As = usize;
    #[inline(always)]
    fn through(self, _: View<T, U>) -> usize {
        self
    }
}

impl<T, U> Through<T, U> for bool {
    type As = bool;
    #[inline(always)]
    fn through(self, _: View<T, U>) -> bool {
        self
    }
}
