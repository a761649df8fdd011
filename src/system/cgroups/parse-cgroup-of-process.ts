/** Reads /proc/<pid>/cgroup: lines such as "4:memory:/path" on v1, "0::/path" on v2. */
export function parseCgroupOfProcess(text: string | undefined): string | undefined {
  const lines = (text ?? '').split('\n').map((line) => line.split(':'))
  const line = lines.find(([, controllers]) => controllers?.split(',').includes('memory')) ?? lines.find(isUnified)
  return line?.slice(2).join(':')
}

function isUnified([hierarchy, controllers]: readonly string[]): boolean {
  return hierarchy === '0' && controllers === ''
}
