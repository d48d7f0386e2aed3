// SPDX-License-Identifier: MIT
// symbols_fixture.rs: Rust functions for check_symbols; built where there is a rustc, in both mangling schemes.
mod deep {
    pub struct Holder<T> {
        pub rows: Vec<T>,
    }

    impl<T: Clone> Holder<T> {
        #[inline(always)]
        fn grow(&mut self, row: &T) {
            self.rows.push(row.clone());
        }
        #[inline(never)]
        pub fn append(&mut self, row: &T) -> usize {
            self.grow(row);
            self.rows.len()
        }
    }
}

#[inline(never)]
fn total(count: usize) -> usize {
    let mut holder = deep::Holder { rows: Vec::new() };
    let twice = |n: usize| format!("{}{}", n, n);
    (0..count).map(|n| holder.append(&twice(n))).sum()
}

fn main() {
    std::process::exit((total(3) != 6) as i32);
}
