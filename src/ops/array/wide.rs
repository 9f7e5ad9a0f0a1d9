//! Functions whose body is compiled for the widest vectors of the processor.

/// Defines a function that runs its body through [`crate::num::dispatch::best`]: `wide! { fn f<'a, T>(x: &'a [T]) { ... } }`.
macro_rules! wide {
    ($(#[$meta:meta])* fn $name:ident<$life:lifetime, T>($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        fn $name<$life, T: $crate::num::real::Real>($($arg: $ty),*) {
            struct Job<$life, T> {
                $($arg: $ty),*
            }
            impl<$life, T: $crate::num::real::Real> $crate::num::dispatch::Work for Job<$life, T> {
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
