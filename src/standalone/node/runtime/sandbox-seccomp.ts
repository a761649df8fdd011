/**
 * What the process of a sandbox may ask of the kernel (catatonit, which waits and reaps), and what either OCI runtime still asks after it has set the filter.
 * Far less than the runtime's own profile allows, and compiled in a tenth of its time, which the start of each pod waits for.
 */
const SYSTEM_CALLS: readonly string[] = `
  access arch_prctl brk capget capset chdir clock_gettime clock_nanosleep clone close close_range dup dup2 dup3
  epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd2 execve exit exit_group faccessat faccessat2 fchdir
  fcntl fstat fstatfs futex getcwd getdents64 getegid geteuid getgid getpgrp getpid getppid getrandom getrlimit
  gettid getuid ioctl keyctl kill lseek madvise membarrier mmap mprotect mremap munmap nanosleep newfstatat open
  openat openat2 pause pipe2 poll ppoll prctl pread64 prlimit64 read readlink readlinkat readv recvmsg
  restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
  rt_sigtimedwait sched_getaffinity sched_yield sendmsg set_robust_list set_tid_address setgid setgroups setpgid
  setresgid setresuid setsid setuid sigaltstack signalfd4 stat statfs statx tgkill timer_create timer_settime
  timerfd_create timerfd_settime tkill umask uname wait4 waitid write writev
`
  .trim()
  .split(/\s+/)

// A program that knows another way takes it; at EPERM it would give up.
const ENOSYS = 38

/** The seccomp profile of sandboxes, in the form of the OCI runtime specification. Without architectures it is for the machine's own. */
export function createSandboxSeccompProfile(): string {
  const profile = {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: ENOSYS,
    syscalls: [{ names: SYSTEM_CALLS, action: 'SCMP_ACT_ALLOW' }],
  }
  return `${JSON.stringify(profile)}\n`
}
