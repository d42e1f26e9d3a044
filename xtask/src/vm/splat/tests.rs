//! Consoles, in short, and what must be found in them.

use super::*;

fn scan(text: &str) -> Vec<Splat> {
    let mut s = Scanner::new(Allow::built_in().unwrap());
    text.lines().for_each(|l| s.line(l));
    s.finish().0
}

#[test]
fn every_kind_is_found() {
    let cases: &[(Kind, &str)] = &[
        (Kind::Panic, "[    1.000000] Kernel panic - not syncing: sysrq triggered crash"),
        (
            Kind::Panic,
            "[    1.0000][    T1] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100",
        ),
        (Kind::Oops, "BUG: kernel NULL pointer dereference, address: 0000000000000000"),
        (Kind::Oops, "BUG: unable to handle page fault for address: ffffc90000000000"),
        (
            Kind::Oops,
            "Unable to handle kernel NULL pointer dereference at virtual address 0000000000000000",
        ),
        (Kind::Oops, "Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP"),
        (
            Kind::Oops,
            "general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#1] SMP NOPTI",
        ),
        (
            Kind::Oops,
            "Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1] PREEMPT SMP",
        ),
        (Kind::Oops, "invalid opcode: 0000 [#1] PREEMPT SMP"),
        (Kind::Oops, "int3: 0000 [#1] PREEMPT SMP"),
        (Kind::Oops, "traps: PANIC: double fault, error_code: 0x0"),
        (Kind::Bug, "kernel BUG at drivers/misc/lkdtm/bugs.c:100!"),
        (Kind::Bug, "BUG: Bad page state in process init  pfn:00abc"),
        (Kind::Kasan, "BUG: KASAN: slab-use-after-free in lkdtm_x+0x1/0x2"),
        (Kind::Kcsan, "BUG: KCSAN: data-race in a / b"),
        (Kind::Kfence, "BUG: KFENCE: use-after-free read in x"),
        (Kind::Ubsan, "UBSAN: array-index-out-of-bounds in kernel/x.c:1:2"),
        (Kind::AtomicSleep, "BUG: sleeping function called from invalid context at mm/slab.h:1"),
        (Kind::AtomicSleep, "BUG: scheduling while atomic: cpumap/0/map:1/77/0x00000002"),
        (Kind::AtomicSleep, "BUG: using smp_processor_id() in preemptible [00000000] code: x/1"),
        (Kind::Lockdep, "WARNING: possible circular locking dependency detected"),
        (Kind::Lockdep, "WARNING: possible recursive locking detected"),
        (Kind::Lockdep, "WARNING: inconsistent lock state"),
        (Kind::Lockdep, "WARNING: SOFTIRQ-safe -> SOFTIRQ-unsafe lock order detected"),
        (Kind::Lockdep, "WARNING: bad unlock balance detected!"),
        (Kind::Lockdep, "[ BUG: Invalid wait context ]"),
        (Kind::Lockdep, "INFO: trying to register non-static key."),
        (Kind::RcuUsage, "WARNING: suspicious RCU usage"),
        (Kind::RcuStall, "rcu: INFO: rcu_preempt self-detected stall on CPU"),
        (Kind::RcuStall, "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:"),
        (Kind::RcuStall, "rcu: rcu_preempt kthread starved for 5252 jiffies! g1 f0x0"),
        (Kind::HungTask, "INFO: task init:1 blocked for more than 120 seconds."),
        (Kind::Lockup, "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [cat:66]"),
        (Kind::Lockup, "watchdog: Watchdog detected hard LOCKUP on cpu 1"),
        (Kind::Warning, "WARNING: CPU: 0 PID: 1 at net/core/dev.c:123 napi_enable+0x1/0x20"),
        (Kind::Warning, "WARNING: net/core/dev.c:123 at napi_enable+0x1/0x20, CPU#0: init/1"),
        (Kind::Memory, "cat invoked oom-killer: gfp_mask=0x1, order=0"),
        (Kind::Memory, "init: page allocation failure: order:9, mode:0x1"),
        (Kind::Leak, "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)"),
        (Kind::Leak, "unregister_netdevice: waiting for veth0 to become free. Usage count = 2"),
        (Kind::Irq, "irq 9: nobody cared (try booting with the \"irqpoll\" option)"),
        (Kind::Trace, "Call Trace:"),
        (Kind::Trace, "[    1.234567] Call trace:"),
    ];
    for (kind, line) in cases {
        let found = scan(line);
        let kinds: Vec<_> = found.iter().map(|s| s.kind).collect();
        assert_eq!(kinds, [*kind], "{line}");
        assert_eq!(found[0].allowed, None, "{line}");
    }
}

#[test]
fn ordinary_lines_are_none() {
    let text = "\
Linux version 6.12.117 (k@k) (gcc) #1 SMP
[    0.000000] Warning: unable to open an initial console.
[    0.0000] rcu: Hierarchical RCU implementation.
[    0.0000] rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.
[    0.1000] MDS: Vulnerable: Clear CPU buffers attempted, no microcode
traps: lkdtm[77] trap invalid opcode ip:401000 sp:7ffd0 error:0 in x[401000+1000]
x[77]: segfault at 0 ip 0000 sp 0000 error 4 in x
Debug: mask=0 bugs: [none]
printk: debug: ignoring loglevel setting.
lkdtm: Performing direct entry WARNING_MESSAGE
random: crng init done
clocksource: tsc: mask: 0xffff
stack depot: disabled
Kernel panic timeout set
DEBUG: x
    ok 3 warning_test";
    assert_eq!(scan(text), []);
}

#[test]
fn a_cascade_is_one_splat_and_a_panic_is_seen() {
    let text = "\
[    2.000000] kseries: begin cpumap_gro
[    2.100000] ------------[ cut here ]------------
[    2.101000] kernel BUG at drivers/misc/lkdtm/bugs.c:100!
[    2.102000] Oops: invalid opcode: 0000 [#1] PREEMPT SMP
[    2.103000] CPU: 0 UID: 0 PID: 66 Comm: sh Not tainted 6.12.117 #1
[    2.103000] Call Trace:
[    2.103000]  <TASK>
[    2.104000] ---[ end trace 0000000000000000 ]---
[    2.105000] Kernel panic - not syncing: Fatal exception
[    2.106000] ---[ end Kernel panic - not syncing: Fatal exception ]---";
    let mut s = Scanner::new(Vec::new());
    text.lines().for_each(|l| s.line(l));
    assert_eq!(s.panicked(), Some("Kernel panic - not syncing: Fatal exception"));
    let (found, _) = s.finish();
    let short: Vec<_> = found.iter().map(|s| (s.kind, s.line, s.test.as_deref())).collect();
    assert_eq!(short, [(Kind::Bug, 2, Some("cpumap_gro"))]);
    assert_eq!(
        found[0].followed_by,
        [
            "Oops: invalid opcode: 0000 [#1] PREEMPT SMP",
            "Kernel panic - not syncing: Fatal exception"
        ]
    );
    assert!(found[0].text.iter().any(|l| l.trim() == "Call Trace:"));
}

#[test]
fn the_same_splat_is_counted_and_the_number_is_bounded() {
    let mut text = String::new();
    for i in 0..50 {
        text.push_str(&format!(
            "WARNING: CPU: {} PID: {i} at net/x.c:1 f+0x1/0x2\n trace {i}\n---[ end trace ]---\n",
            i % 2
        ));
    }
    for i in 0..500 {
        let name: String =
            [b'a' + (i / 26 % 26) as u8, b'a' + (i % 26) as u8].map(char::from).iter().collect();
        text.push_str(&format!("WARNING: CPU: 0 PID: 1 at {name}.c\n"));
    }
    let mut s = Scanner::new(Vec::new());
    text.lines().for_each(|l| s.line(l));
    let (found, dropped) = s.finish();
    assert_eq!((found[0].count, found.len(), dropped), (50, 100, 401));
    assert!(found[0].text.len() < 4);
}

#[test]
fn the_allowlist_names_what_it_lets_pass() {
    let text = "Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on, data leaks possible via Spectre v2 BHB attacks!";
    assert_eq!(scan(text)[0].allowed.as_deref(), Some("unprivileged-ebpf"));
    // What an allowed warning leads to is not allowed.
    let worse = format!("{text}\nKernel panic - not syncing: panic_on_warn set ...");
    assert_eq!(scan(&worse)[0].allowed, None);
    for bad in ["", ".*", "(", "a|"] {
        assert!(Allow::new("x", bad, "y").is_err(), "{bad}");
    }
}

#[test]
fn a_long_splat_is_bounded() {
    let mut text = String::from("BUG: KASAN: use-after-free in f\n");
    text.push_str(&"line\n".repeat(10_000));
    let found = scan(&text);
    assert!(found[0].text.len() <= 130);
    let die = "general protection fault: 0000 [#1] SMP\n---[ end trace 0 ]---\nKernel panic - not syncing: x\n";
    let cascade = scan(&format!("kernel BUG at x.c:1!\n{}", die.repeat(5000)));
    assert!(cascade.iter().all(|s| s.text.len() <= 240 && s.followed_by.len() <= 20));
}
