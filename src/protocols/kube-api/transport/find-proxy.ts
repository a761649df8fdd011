import { BlockList, isIP } from 'node:net'

type Environment = Readonly<Record<string, string | undefined>>

/** The proxy on the way to a server, as HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the environment say. */
export function findProxy(server: URL, environment: Environment): URL | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const text = read(environment, name)
  if (text === '') return undefined
  const host = server.hostname.replace(/^\[|\]$/g, '')
  if (isOwnMachine(host)) return undefined
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  if (
    read(environment, 'NO_PROXY')
      .split(',')
      .some((rule) => isExcepted(rule.trim().toLowerCase(), host, port))
  )
    return undefined
  return parseProxyUrl(text, name)
}

/** A proxy's address; without a scheme it is spoken to in plain HTTP. */
export function parseProxyUrl(text: string, where: string): URL {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Error(`Cannot use the proxy in ${where}: expected a URL with http:// or https://`)
}

function read(environment: Environment, name: string): string {
  return environment[name] || environment[name.toLowerCase()] || ''
}

function isOwnMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Rules are addresses, ranges of them, and names, which stand for what is below them too; each perhaps with a port. */
function isExcepted(rule: string, host: string, port: string): boolean {
  if (rule === '') return false
  if (rule === '*') return true
  if (rule.includes('/')) return isInRange(rule, host)
  const [, name = rule, rulePort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(rule) ?? []
  if (rulePort !== undefined && rulePort !== port) return false
  const plain = name.replace(/^\[|\]$/g, '')
  if (isIP(plain) !== 0) return plain === host
  if (plain.startsWith('*.')) return host.endsWith(plain.slice(1))
  return plain.startsWith('.') ? host.endsWith(plain) : host === plain || host.endsWith(`.${plain}`)
}

function isInRange(rule: string, host: string): boolean {
  const [network = '', bits = ''] = rule.split('/')
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(network) === 0 || isIP(network) !== isIP(host) || !/^\d{1,3}$/.test(bits)) return false
  if (Number(bits) > (family === 'ipv6' ? 128 : 32)) return false
  const range = new BlockList()
  range.addSubnet(network, Number(bits), family)
  return range.check(host, family)
}
