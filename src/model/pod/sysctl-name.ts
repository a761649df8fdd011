/** Sysctls are written with dots or with slashes; the first separator decides which, and the other one is then part of a name. */
export function normalSysctlName(name: string): string {
  const separator = /[./]/.exec(name)?.[0]
  if (separator !== '/') return name
  return name.replace(/[./]/g, (character) => (character === '/' ? '.' : '/'))
}
