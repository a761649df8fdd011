/** Compares the first two numbers of versions such as "6.1.0-18-amd64", "v2.1.0-rc.1" or "1.6.20~ds1"; what is none counts as the oldest. */
export function isVersionAtLeast(version: string, least: string): boolean {
  const [major, minor] = toNumbers(version)
  const [leastMajor, leastMinor] = toNumbers(least)
  return major === leastMajor ? minor >= leastMinor : major > leastMajor
}

function toNumbers(version: string): readonly [major: number, minor: number] {
  const [, major = '0', minor = '0'] = /^v?(\d+)(?:\.(\d+))?/.exec(version) ?? []
  return [Number(major), Number(minor)]
}
