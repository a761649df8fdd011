import { isAbsolute, resolve } from 'node:path'
import type { IngressPorts } from '../../controllers/network/ingress/ingress-ports.ts'
import type { DetachOptions } from '../up/detach.ts'
import { parseAddresses } from '../node/network/parse-addresses.ts'
import { SWITCHABLE_PARTS } from '../node/switchable-parts.ts'
import { DEFAULT_STATE, parse, parsePort, textOption, wrong } from './parse-options.ts'
import { AUTO_RUNTIME, DOCKER_ENDPOINT } from './up-options.ts'
import type { UpOptions } from './up-options.ts'

const SINGLE_STACK = 'IPv4'
const DUAL_STACK = 'IPv4,IPv6'

type UpCommand =
  | { readonly kind: 'up'; readonly options: UpOptions }
  | { readonly kind: 'detach'; readonly options: DetachOptions }

/** "--wait" may stand alone. */
export function parseUpCommand(args: readonly string[], folder: string): UpCommand {
  const isDetached = (arg: string) => arg === '--detach' || arg === '-d' || isWait(arg)
  const rest = args.filter((arg) => !isDetached(arg))
  const options = parseUp(rest, folder)
  if (!args.some(isDetached)) return { kind: 'up', options }
  const wait = args.findLast(isWait)
  const waitMs = wait === undefined ? undefined : parseTime(wait === '--wait' ? '5m' : wait.slice('--wait='.length))
  const { state, apply } = options
  return {
    kind: 'detach',
    options: { state, args: toUpArguments(options, rest), waitMs, isApplying: apply !== undefined },
  }
}

function isWait(arg: string): boolean {
  return arg === '--wait' || arg.startsWith('--wait=')
}

/** The arguments of "up" that "install" was given, for the unit that starts it. */
export function parseInstall(args: readonly string[], folder: string): readonly string[] {
  return toUpArguments(parseUp(args, folder), args)
}

/** The arguments with whole paths, for a process that starts in another folder. */
function toUpArguments(options: UpOptions, args: readonly string[]): readonly string[] {
  const given = (name: string) => args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`))
  const values: Readonly<Record<string, string | number | undefined>> = {
    state: options.state,
    manifests: options.manifests,
    apply: options.apply,
    runtime: options.runtime,
    'oci-runtime': options.ociRuntime,
    kubelet: options.kubelet,
    'cgroup-root': options.cgroupRoot,
    'api-port': options.ports.kubernetes,
    port: options.ports.agent,
    'healthz-port': options.ports.healthz,
    address: options.addresses.join(','),
    'ip-families': options.isDualStack ? DUAL_STACK : SINGLE_STACK,
    'page-port': options.pagePort ?? 0,
    'ingress-http-port': options.ingressPorts.http,
    'ingress-https-port': options.ingressPorts.https,
    without: options.without.join(','),
  }
  return Object.entries(values).flatMap(([name, value]) =>
    value !== undefined && given(name) ? [`--${name}=${value}`] : [],
  )
}

function parseUp(args: readonly string[], folder: string): UpOptions {
  const values = parse(args, {
    state: textOption,
    manifests: textOption,
    apply: textOption,
    runtime: textOption,
    'oci-runtime': textOption,
    kubelet: textOption,
    'cgroup-root': textOption,
    'api-port': textOption,
    port: textOption,
    'healthz-port': textOption,
    address: textOption,
    'ip-families': textOption,
    'page-port': textOption,
    'ingress-http-port': textOption,
    'ingress-https-port': textOption,
    without: textOption,
  })
  const path = (value: string | undefined) => (value === undefined ? undefined : resolve(folder, value))
  return {
    state: resolve(folder, values.state ?? DEFAULT_STATE),
    manifests: path(values.manifests),
    apply: path(values.apply),
    runtime: parseRuntime(values.runtime),
    ociRuntime: parseOciRuntime(values['oci-runtime'], values.runtime),
    kubelet: path(values.kubelet),
    cgroupRoot: parseCgroupRoot(values['cgroup-root']),
    ports: {
      kubernetes: parsePort('api-port', values['api-port'] ?? '6443'),
      agent: parsePort('port', values.port ?? '10250'),
      healthz: parsePort('healthz-port', values['healthz-port'] ?? '10248'),
    },
    addresses: parseAddresses(values.address),
    isDualStack: parseFamilies(values['ip-families'] ?? SINGLE_STACK),
    pagePort: values['page-port'] === '0' ? undefined : parsePort('page-port', values['page-port'] ?? '6080'),
    ingressPorts: parseIngressPorts(values['ingress-http-port'], values['ingress-https-port'], values.without),
    without: parseParts(values.without),
  }
}

function parseFamilies(value: string): boolean {
  if (value === SINGLE_STACK || value === DUAL_STACK) return value === DUAL_STACK
  throw wrong(`Cannot use --ip-families "${value}": expected ${SINGLE_STACK} or ${DUAL_STACK}`)
}

function parseTime(value: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})(s|m|h|)$/.exec(value) ?? []
  if (Number(number) === 0) throw wrong(`Cannot use --wait "${value}": expected a time such as 90s or 5m`)
  return Number(number) * { s: 1000, m: 60_000, h: 3_600_000, '': 1000 }[unit as 's' | 'm' | 'h' | '']
}

function parseRuntime(value: string | undefined): string | undefined {
  if (value === undefined || value === AUTO_RUNTIME || /^unix:\/\/\/./.test(value)) return value
  if (value === 'docker') return DOCKER_ENDPOINT
  if (isAbsolute(value)) return `unix://${value}`
  throw wrong(
    `Cannot use --runtime "${value}": expected docker, auto or a socket such as unix:///run/containerd/containerd.sock`,
  )
}

function parseOciRuntime(value: string | undefined, runtime: string | undefined): string | undefined {
  if (value === undefined) return value
  if (runtime !== undefined && runtime !== AUTO_RUNTIME)
    throw wrong('Cannot use --oci-runtime with --runtime: that runtime has its own; expected one of the two')
  if (/^[\w.-]+$/.test(value) || isAbsolute(value)) return value
  throw wrong(`Cannot use --oci-runtime "${value}": expected a name such as crun, or a path such as /usr/bin/crun`)
}

function parseParts(value = ''): readonly string[] {
  const parts = value.split(',').filter(Boolean)
  const unknown = parts.find((part) => !Object.hasOwn(SWITCHABLE_PARTS, part))
  if (unknown === undefined) return parts
  throw wrong(`Cannot use --without "${unknown}": expected ${Object.keys(SWITCHABLE_PARTS).join(', ')}`)
}

function parseIngressPorts(
  http: string | undefined,
  https: string | undefined,
  without: string | undefined,
): IngressPorts {
  const ports = {
    http: http === undefined ? undefined : parsePort('ingress-http-port', http),
    https: https === undefined ? undefined : parsePort('ingress-https-port', https),
  }
  const [flag] = [
    ...(http === undefined ? [] : ['--ingress-http-port']),
    ...(https === undefined ? [] : ['--ingress-https-port']),
  ]
  if (flag === undefined) return ports
  const missing = parseParts(without).find((part) => part === 'ingress' || part === 'services')
  if (missing !== undefined)
    throw wrong(`Cannot use ${flag} with --without ${missing}: an ingress needs it; expected one of the two`)
  if (ports.http === ports.https)
    throw wrong('Cannot use one port for HTTP and HTTPS: expected two, or one of the options')
  return ports
}

function parseCgroupRoot(value: string | undefined): string | undefined {
  // The root itself belongs to the whole machine, and "down" removes what it is given.
  if (value === undefined || /^(\/[\w-][\w.-]*)+$/.test(value)) return value
  throw wrong(`Cannot use --cgroup-root "${value}": expected a path below the root, such as /deckhand`)
}
