import { isAbsolute, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { exitCodes, NodeError } from './node/node-error.ts'
import type { BackupOptions } from './backup/run-backup.ts'
import type { RestoreOptions } from './backup/run-restore.ts'
import type { DetachOptions } from './detach.ts'
import type { ImagesAction, ImagesOptions } from './images/images-options.ts'
import type { KubeconfigOptions } from './kubeconfig.ts'
import { LOGGED_PARTS } from './logs.ts'
import type { LogsOptions } from './logs.ts'
import { parseAddress, parseAddresses } from './node/network/parse-addresses.ts'
import { SWITCHABLE_PARTS } from './node/switchable-parts.ts'
import type { PageOptions } from './page.ts'
import type { ResetOptions } from './reset.ts'
import type { ShutdownOptions } from './shutdown.ts'
import { errorMessage } from '../base/telemetry/error-text.ts'

/** Where the node listens. */
export interface NodePorts {
  /** The Kubernetes API, which kubectl talks to. */
  readonly kubernetes: number
  /** The agent's own. */
  readonly agent: number
  readonly healthz: number
}

export interface UpOptions {
  readonly state: string
  /** Undefined: "manifests" in the state folder. */
  readonly manifests: string | undefined
  /** A folder of objects to apply, also when they change. */
  readonly apply: string | undefined
  /** The endpoint of a runtime of the user's, CRI or Docker; `auto`: Docker where there is no containerd; undefined: our own containerd. */
  readonly runtime: string | undefined
  /** The program with which our own containerd runs containers; undefined: runc, or crun where only that is installed. */
  readonly ociRuntime: string | undefined
  /** Path of another kubelet to run as the agent. */
  readonly kubelet: string | undefined
  readonly cgroupRoot: string | undefined
  readonly ports: NodePorts
  /** Where API and agent are served for other machines: none, one address, or one of each family. */
  readonly addresses: readonly string[]
  /** Of the page to look at; undefined: none is served. */
  readonly pagePort: number | undefined
  /** Parts that are switched off. */
  readonly without: readonly string[]
}

/** What the command line asks for. */
export type Command =
  | { readonly kind: 'up'; readonly options: UpOptions }
  | { readonly kind: 'detach'; readonly options: DetachOptions }
  | { readonly kind: 'logs'; readonly options: LogsOptions }
  | { readonly kind: 'images'; readonly options: ImagesOptions }
  | { readonly kind: 'install'; readonly args: readonly string[] }
  | { readonly kind: 'uninstall' }
  | { readonly kind: 'down'; readonly state: string; readonly purge: boolean }
  | { readonly kind: 'backup'; readonly options: BackupOptions }
  | { readonly kind: 'restore'; readonly options: RestoreOptions }
  | { readonly kind: 'reset'; readonly options: ResetOptions }
  | { readonly kind: 'status'; readonly state: string }
  | { readonly kind: 'why'; readonly state: string; readonly pod: string }
  | { readonly kind: 'page'; readonly options: PageOptions }
  | { readonly kind: 'shutdown'; readonly options: ShutdownOptions }
  | { readonly kind: 'kubeconfig'; readonly options: KubeconfigOptions }
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly command: string | undefined }

/** The choice of a runtime is left to us. */
export const AUTO_RUNTIME = 'auto'
/** Where Docker listens unless it was configured otherwise. */
export const DOCKER_ENDPOINT = 'unix:///var/run/docker.sock'

const DEFAULT_STATE = '/var/lib/deckhand'
const text = { type: 'string' } as const

/** Reads the arguments after the program's name. Relative paths are those of the folder given. */
export function parseArguments(args: readonly string[], folder: string): Command {
  const [name = 'help', ...rest] = args
  if (rest.includes('--help') || rest.includes('-h')) return { kind: 'help', command: name }
  switch (name) {
    case 'up':
      return parseUpCommand(rest, folder)
    case 'logs':
      return { kind: 'logs', options: parseLogs(rest, folder) }
    case 'images':
      return { kind: 'images', options: parseImages(rest, folder) }
    case 'install':
      return { kind: 'install', args: toUpArguments(parseUp(rest, folder), rest) }
    case 'uninstall':
      parse(rest, {})
      return { kind: 'uninstall' }
    case 'down': {
      const { state, purge } = parse(rest, { state: text, purge: { type: 'boolean' } })
      return { kind: 'down', state: resolve(folder, state ?? DEFAULT_STATE), purge: purge ?? false }
    }
    case 'backup': {
      const { state, file } = parseFile(name, rest, folder)
      return { kind: name, options: { state, file } }
    }
    case 'restore':
      return { kind: name, options: parseFile(name, rest, folder) }
    case 'reset': {
      const { state, yes } = parse(rest, { state: text, yes: { type: 'boolean' } })
      return { kind: name, options: { state: resolve(folder, state ?? DEFAULT_STATE), yes: yes ?? false } }
    }
    case 'status':
      return { kind: 'status', state: resolve(folder, parse(rest, { state: text }).state ?? DEFAULT_STATE) }
    case 'why': {
      const { values, names } = parseNamed(rest, { state: text })
      const [pod, ...others] = names
      if (pod === undefined || others.length > 0)
        throw wrong('Cannot say why: expected the name of one pod, as "deckhand status" shows it')
      return { kind: 'why', pod, state: resolve(folder, values['state'] ?? DEFAULT_STATE) }
    }
    case 'kubeconfig': {
      const { state, address, reader } = parse(rest, { state: text, address: text, reader: { type: 'boolean' } })
      const options = { state: resolve(folder, state ?? DEFAULT_STATE), isReader: reader ?? false }
      return { kind: name, options: { ...options, address: address === undefined ? undefined : parseAddress(address) } }
    }
    case 'page': {
      const values = parse(rest, { state: text, 'read-only': { type: 'boolean' } })
      const identity = values['read-only'] === true ? 'reader' : 'admin'
      return { kind: 'page', options: { state: resolve(folder, values.state ?? DEFAULT_STATE), identity } }
    }
    case 'shutdown':
      return { kind: 'shutdown', options: parseShutdown(rest, folder) }
    case 'version':
    case '--version':
      parse(rest, {})
      return { kind: 'version' }
    case 'help':
    case '--help':
    case '-h':
      return { kind: 'help', command: rest[0] }
    default:
      throw wrong(
        `Cannot do "${name}": expected up, down, shutdown, status, why, page, logs, images, kubeconfig, backup, restore, reset, install, uninstall, version or help`,
      )
  }
}

/** "--wait" may stand alone. */
function parseUpCommand(args: readonly string[], folder: string): Command {
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
    'page-port': options.pagePort ?? 0,
    without: options.without.join(','),
  }
  return Object.entries(values).flatMap(([name, value]) =>
    value !== undefined && given(name) ? [`--${name}=${value}`] : [],
  )
}

function parseLogs(args: readonly string[], folder: string): LogsOptions {
  const [first] = args
  const named = first !== undefined && !first.startsWith('-')
  const part = named ? LOGGED_PARTS.find((name) => name === first) : 'agent'
  if (part === undefined) throw wrong(`Cannot show the log of "${first}": expected ${LOGGED_PARTS.join(', ')}`)
  const values = parse(named ? args.slice(1) : args, {
    state: text,
    follow: { type: 'boolean', short: 'f' },
    lines: { ...text, short: 'n' },
  })
  const lines = values.lines ?? '100'
  if (!/^\d{1,6}$/.test(lines)) throw wrong(`Cannot show "${lines}" lines: expected a number up to 999999`)
  return {
    state: resolve(folder, values.state ?? DEFAULT_STATE),
    part,
    follow: values.follow ?? false,
    lines: Number(lines),
  }
}

/** The file of a backup, and for "restore" that of its keys. */
function parseFile(command: string, args: readonly string[], folder: string): RestoreOptions {
  const { values, names } = parseNamed(args, { state: text, ...(command === 'restore' ? { keys: text } : {}) })
  const [file, ...others] = names
  if (file === undefined || others.length > 0)
    throw wrong(`Cannot ${command === 'backup' ? 'back up' : command}: expected one file`)
  return {
    state: resolve(folder, values['state'] ?? DEFAULT_STATE),
    file: resolve(folder, file),
    keys: values['keys'] === undefined ? undefined : resolve(folder, values['keys']),
  }
}

function parseImages(args: readonly string[], folder: string): ImagesOptions {
  const { values, names } = parseNamed(args, { state: text, name: text, output: { ...text, short: 'o' } })
  const [action, ...others] = names
  if (values['name'] !== undefined && action !== 'load') throw wrong('Cannot use --name: it is for "images load"')
  if (values['output'] !== undefined && action !== 'save') throw wrong('Cannot use --output: it is for "images save"')
  return {
    state: resolve(folder, values['state'] ?? DEFAULT_STATE),
    action: toImagesAction(action, { names: others, values, folder }),
  }
}

function toImagesAction(
  action: string | undefined,
  given: {
    readonly names: readonly string[]
    readonly values: Readonly<Record<string, string | undefined>>
    readonly folder: string
  },
): ImagesAction {
  const { names, values, folder } = given
  const path = (file: string) => (file === '-' ? file : resolve(folder, file))
  if (action === 'ls' && names.length > 0) throw wrong(`Cannot list "${names[0]}": expected nothing after "ls"`)
  if ((action === 'pull' || action === 'rm' || action === 'save') && names.length === 0)
    throw wrong(`Cannot do "images ${action}": expected the name of an image`)
  switch (action) {
    case 'ls':
      return { kind: action }
    case 'pull':
    case 'rm':
      return { kind: action, names }
    case 'load': {
      const files = names.length === 0 ? ['-'] : names.map(path)
      if (files.length > 1 && values['name'] !== undefined)
        throw wrong('Cannot use --name with several files: expected one')
      return { kind: action, files, name: values['name'] }
    }
    case 'save': {
      const { output = '-' } = values
      return { kind: action, names, file: output === '-' ? undefined : path(output) }
    }
    default:
      throw wrong(`Cannot do "images ${action ?? ''}": expected ls, pull, load, save or rm`)
  }
}

function parseTime(value: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})(s|m|h|)$/.exec(value) ?? []
  if (number === '') throw wrong(`Cannot use --wait "${value}": expected a time such as 90s or 5m`)
  return Number(number) * { s: 1000, m: 60_000, h: 3_600_000, '': 1000 }[unit as 's' | 'm' | 'h' | '']
}

function parseUp(args: readonly string[], folder: string): UpOptions {
  const values = parse(args, {
    state: text,
    manifests: text,
    apply: text,
    runtime: text,
    'oci-runtime': text,
    kubelet: text,
    'cgroup-root': text,
    'api-port': text,
    port: text,
    'healthz-port': text,
    address: text,
    'page-port': text,
    without: text,
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
    pagePort: values['page-port'] === '0' ? undefined : parsePort('page-port', values['page-port'] ?? '6080'),
    without: parseParts(values.without),
  }
}

function parseShutdown(args: readonly string[], folder: string): ShutdownOptions {
  const values = parse(args, { state: text, 'root-dir': text, cancel: { type: 'boolean' } })
  const rootDirectory = values['root-dir']
  return {
    state: resolve(folder, values.state ?? DEFAULT_STATE),
    rootDirectory: rootDirectory === undefined ? undefined : resolve(folder, rootDirectory),
    cancel: values.cancel ?? false,
  }
}

function parse<T extends Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false, strict: true }).values
  } catch (error) {
    throw wrong(`Cannot read the arguments: ${errorMessage(error)}`)
  }
}

/** Options that are texts, and the names between them. */
function parseNamed(
  args: readonly string[],
  options: Readonly<Record<string, { readonly type: 'string'; readonly short?: string }>>,
): { readonly values: Readonly<Record<string, string | undefined>>; readonly names: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
    return { values, names: positionals }
  } catch (error) {
    throw wrong(`Cannot read the arguments: ${errorMessage(error)}`)
  }
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

function parseCgroupRoot(value: string | undefined): string | undefined {
  // The root itself belongs to the whole machine, and "down" removes what it is given.
  if (value === undefined || /^(\/[\w-][\w.-]*)+$/.test(value)) return value
  throw wrong(`Cannot use --cgroup-root "${value}": expected a path below the root, such as /deckhand`)
}

function parsePort(name: string, value: string): number {
  const port = Number(value)
  if (/^\d{1,5}$/.test(value) && port >= 1 && port <= 65_535) return port
  throw wrong(`Cannot use --${name} "${value}": expected a number from 1 to 65535`)
}

function wrong(message: string): NodeError {
  return new NodeError(`${message}; "deckhand help" says more`, exitCodes.wrongArguments)
}
