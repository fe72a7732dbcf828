// A plug-in in Rust, without any crate: a kernel for elementwise_add_backward of assay.
//
//     rustc --edition 2021 --crate-type cdylib -O -o libexample.so example.rs
//     assay --plugin ./libexample.so check -k elementwise_add_backward/rust
use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr::null;

// The structures of assay/plugin.h, of which a kernel needs these fields.
#[repr(C)]
struct Tensor {
    name: *const c_char,
    kind: i32,
    usage: i32,
    width: i64,
    size: i64,
    axes: i32,
    reserved: i32,
    extent: [i64; 8],
    low: i64,
    high: i64,
    data: *mut c_void,
}
#[repr(C)]
struct Field {
    name: *const c_char,
    value: i64,
}
#[repr(C)]
struct Problem {
    size: u32,
    threads: i32,
    field_count: usize,
    fields: *const Field,
}
type Absent = *const c_void; // a function that may be NULL and is
#[repr(C)]
struct Kernel {
    size: u32,
    threaded: i32,
    operation: *const c_char,
    name: *const c_char,
    summary: *const c_char,
    libraries: *const c_char,
    precision: *const c_char,
    unfit: Absent,
    prepare: Absent,
    run: extern "C" fn(*mut c_void, *const Problem, *const Tensor, usize) -> c_int,
    release: Absent,
    synchronize: Absent,
    seconds: Absent,
    failure: Absent,
}
#[repr(C)]
struct Plugin {
    abi: u32,
    size: u32,
    provider: *const c_char,
    revision: *const c_char,
    operation_count: usize,
    operations: *const c_void,
    kernel_count: usize,
    kernels: *const *const Kernel,
}

/// The field of that name; 1 where there is none.
unsafe fn field(problem: *const Problem, name: &str) -> f32 {
    let fields = std::slice::from_raw_parts((*problem).fields, (*problem).field_count);
    let found = fields.iter().find(|one| CStr::from_ptr(one.name).to_bytes() == name.as_bytes());
    found.map_or(1.0, |one| one.value as f32)
}

/// dx = dz, dy = alpha dz. A panic must not leave a function of the C ABI: slices of one length do not panic.
extern "C" fn add_backward(_: *mut c_void, problem: *const Problem, tensors: *const Tensor, count: usize) -> c_int {
    if count != 3 {
        return 1;
    }
    unsafe {
        let t = std::slice::from_raw_parts(tensors, count);
        let dz = std::slice::from_raw_parts(t[0].data as *const f32, t[0].size as usize);
        let dx = std::slice::from_raw_parts_mut(t[1].data as *mut f32, t[1].size as usize);
        let dy = std::slice::from_raw_parts_mut(t[2].data as *mut f32, t[2].size as usize);
        let alpha = field(problem, "alpha");
        for ((dx, dy), dz) in dx.iter_mut().zip(dy).zip(dz) {
            *dx = *dz;
            *dy = alpha * dz;
        }
    }
    0
}

struct Shared<T>(T);
unsafe impl<T> Sync for Shared<T> {} // nobody writes to it

static KERNEL: Shared<Kernel> = Shared(Kernel {
    size: std::mem::size_of::<Kernel>() as u32,
    threaded: 0,
    operation: "elementwise_add_backward\0".as_ptr() as *const c_char,
    name: "rust\0".as_ptr() as *const c_char,
    summary: "a zip of slices, vectorised by rustc\0".as_ptr() as *const c_char,
    libraries: null(),
    precision: null(),
    unfit: null(),
    prepare: null(),
    run: add_backward,
    release: null(),
    synchronize: null(),
    seconds: null(),
    failure: null(),
});
static KERNELS: Shared<[&Kernel; 1]> = Shared([&KERNEL.0]);
static PLUGIN: Shared<Plugin> = Shared(Plugin {
    abi: 1,
    size: std::mem::size_of::<Plugin>() as u32,
    provider: "example\0".as_ptr() as *const c_char,
    revision: null(),
    operation_count: 0,
    operations: null(),
    kernel_count: 1,
    kernels: &KERNELS.0 as *const _ as *const *const Kernel,
});

#[no_mangle]
extern "C" fn assay_plugin_v1() -> *const Plugin {
    &PLUGIN.0
}
