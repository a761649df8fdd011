/** IP addresses are compared as text, so each has one form only. (Node's isIP() compiles a regular expression of 5 ms for IPv6.) */
export function toCanonicalIp(ip: string): string {
  return familyOf(ip) === 'IPv6' ? new URL(`http://[${ip}]`).hostname.slice(1, -1) : ip
}

export function familyOf(ip: string): 'IPv4' | 'IPv6' {
  return ip.includes(':') ? 'IPv6' : 'IPv4'
}
