import { isIP } from 'node:net'
import type { ConfigProblem } from './config-error.ts'
import { isDnsSubdomain } from './values/label-syntax.ts'

/** The name of the node: --hostname-override or the host name, trimmed, in lower case. An API takes no Node of any other name than a DNS name. */
export function parseNodeName(
  override: string,
  hostname: string,
  { hasApi }: { readonly hasApi: boolean },
): { readonly nodeName: string; readonly problems: readonly ConfigProblem[] } {
  const nodeName = (override === '' ? hostname : override).trim().toLowerCase()
  const path = override === '' ? 'host name' : '--hostname-override'
  if (nodeName === '') return { nodeName, problems: [{ path, value: override, rule: 'expected a name for the node' }] }
  if (!hasApi || isDnsSubdomain(nodeName)) return { nodeName, problems: [] }
  const advice = override === '' ? ', or another name by --hostname-override' : ''
  const rule = `expected letters, digits, "-" and ".", each part starting and ending with a letter or digit${advice}`
  return { nodeName, problems: [{ path, value: nodeName, rule }] }
}

/** The addresses of --node-ip: one, or one of each family. What is no address is left out with a warning. */
export function parseNodeIps(text: string): {
  readonly nodeIps: readonly string[]
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly string[]
} {
  const parts = text.split(',').map((part) => part.trim())
  const entries = parts.filter((part) => part !== '')
  const nodeIps = entries.filter((entry) => isIP(entry) !== 0)
  const families = new Set(nodeIps.map((address) => isIP(address)))
  const isWildcard = nodeIps.some((address) => address === '0.0.0.0' || address === '::')
  const isBad = nodeIps.length > 1 && (families.size < nodeIps.length || isWildcard)
  const rule = 'expected one address, or one IPv4 and one IPv6 address that are not wildcards'
  return {
    nodeIps,
    problems: isBad ? [{ path: '--node-ip', value: text, rule }] : [],
    warnings: entries
      .filter((entry) => isIP(entry) === 0)
      .map((entry) => `Flag --node-ip has ${JSON.stringify(entry)}, which is not an IP address: left out`),
  }
}
