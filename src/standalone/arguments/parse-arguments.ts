import { resolve } from 'node:path'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { parseSimulation, SIMULATION_FLAGS } from '../../simulation/options/parse-simulation.ts'
import type { SimulationOptions } from '../../simulation/options/simulation-options.ts'
import type { BackupOptions } from '../backup/run-backup.ts'
import type { RestoreOptions } from '../backup/run-restore.ts'
import type { DetachOptions } from '../up/detach.ts'
import type { ImagesOptions } from '../images/images-options.ts'
import type { KubeconfigOptions } from '../run-kubeconfig.ts'
import { LOGGED_PARTS } from '../logs.ts'
import type { LogsOptions } from '../logs.ts'
import { commandNames } from '../help.ts'
import { parseAddress } from '../node/network/parse-addresses.ts'
import { NodeError } from '../node/node-error.ts'
import type { PageOptions } from '../page.ts'
import type { NodePageOptions } from '../page-of-node.ts'
import type { ResetOptions } from '../reset.ts'
import type { WhyOptions } from '../why.ts'
import type { ShutdownOptions } from '../shutdown.ts'
import { parseImages } from './parse-images.ts'
import { DEFAULT_STATE, parse, parseNamed, parsePort, textOption, wrong } from './parse-options.ts'
import { parseInstall, parseUpCommand } from './parse-up.ts'
import type { UpOptions } from './up-options.ts'

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
  | (WhyOptions & { readonly kind: 'why' })
  | { readonly kind: 'page'; readonly options: PageOptions }
  | { readonly kind: 'node-page'; readonly options: NodePageOptions }
  | { readonly kind: 'shutdown'; readonly options: ShutdownOptions }
  | { readonly kind: 'kubeconfig'; readonly options: KubeconfigOptions }
  | { readonly kind: 'simulate'; readonly options: SimulationOptions }
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly command: string | undefined }

/** Reads the arguments after the program's name. Relative paths are those of the folder given. */
export function parseArguments(args: readonly string[], folder: string): Command {
  const [name = 'help', ...rest] = args
  if (rest.includes('--help') || rest.includes('-h')) return { kind: 'help', command: name }
  try {
    return parseCommand(name, rest, folder)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const help = commandNames.includes(name) ? `deckhand ${name} --help` : 'deckhand help'
    throw new NodeError(`${error.message}; "${help}" says more`, error.exitCode, { cause: error })
  }
}

function parseCommand(name: string, rest: readonly string[], folder: string): Command {
  switch (name) {
    case 'up':
      return parseUpCommand(rest, folder)
    case 'logs':
      return { kind: 'logs', options: parseLogs(rest, folder) }
    case 'images':
      return { kind: 'images', options: parseImages(rest, folder) }
    case 'install':
      return { kind: 'install', args: parseInstall(rest, folder) }
    case 'uninstall':
      parse(rest, {})
      return { kind: 'uninstall' }
    case 'down': {
      const { state, purge } = parse(rest, { state: textOption, purge: { type: 'boolean' } })
      return { kind: 'down', state: resolve(folder, state ?? DEFAULT_STATE), purge: purge ?? false }
    }
    case 'backup': {
      const { state, file } = parseFile(name, rest, folder)
      return { kind: name, options: { state, file } }
    }
    case 'restore':
      return { kind: name, options: parseFile(name, rest, folder) }
    case 'reset': {
      const { state, yes } = parse(rest, { state: textOption, yes: { type: 'boolean' } })
      return { kind: name, options: { state: resolve(folder, state ?? DEFAULT_STATE), yes: yes ?? false } }
    }
    case 'status':
      return { kind: 'status', state: resolve(folder, parse(rest, { state: textOption }).state ?? DEFAULT_STATE) }
    case 'why': {
      const options = { state: textOption, 'root-dir': textOption, namespace: { ...textOption, short: 'n' } }
      const { values, names } = parseNamed(rest, options)
      const { state = DEFAULT_STATE, 'root-dir': rootDirectory, namespace } = values
      const [name, ...others] = names
      if (name === undefined || others.length > 0)
        throw wrong('Cannot say why: expected the name of one pod, as "deckhand status" shows it')
      const root = rootDirectory === undefined ? undefined : resolve(folder, rootDirectory)
      const pod = namespace === undefined ? name : `${namespace}/${name.slice(name.lastIndexOf('/') + 1)}`
      return { kind: 'why', pod, state: resolve(folder, state), rootDirectory: root }
    }
    case 'kubeconfig': {
      const { state, address, reader } = parse(rest, {
        state: textOption,
        address: textOption,
        reader: { type: 'boolean' },
      })
      const options = { state: resolve(folder, state ?? DEFAULT_STATE), isReader: reader ?? false }
      return { kind: name, options: { ...options, address: address === undefined ? undefined : parseAddress(address) } }
    }
    case 'page':
      return parsePage(rest, folder)
    case 'shutdown':
      return { kind: 'shutdown', options: parseShutdown(rest, folder) }
    case 'simulate':
      return { kind: 'simulate', options: parseSimulate(rest, folder) }
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
        `Cannot do "${name}": expected up, down, shutdown, status, why, page, logs, images, kubeconfig, backup, restore, reset, install, uninstall, simulate, version or help`,
      )
  }
}

/** Without a kubeconfig file it is about the page that "up" serves. */
function parsePage(args: readonly string[], folder: string): Command {
  const values = parse(args, {
    state: textOption,
    'read-only': { type: 'boolean' },
    kubeconfig: textOption,
    node: textOption,
    kubelet: textOption,
    'page-port': textOption,
  })
  const { kubeconfig, node, kubelet, state } = values
  const port = values['page-port']
  if (kubeconfig === undefined) {
    const lonely = (['node', 'kubelet', 'page-port'] as const).find((name) => values[name] !== undefined)
    if (lonely !== undefined) throw wrong(`Cannot use --${lonely}: it is for "page --kubeconfig"`)
    const identity = values['read-only'] === true ? 'reader' : 'admin'
    return { kind: 'page', options: { state: resolve(folder, state ?? DEFAULT_STATE), identity } }
  }
  if (state !== undefined) throw wrong('Cannot use --state with --kubeconfig: expected one of the two')
  if (values['read-only'] === true)
    throw wrong(
      'Cannot use --read-only with --kubeconfig: the page has the rights of that file; expected one of the two',
    )
  if (node !== undefined && kubelet !== undefined)
    throw wrong('Cannot use --node with --kubelet: a kubelet has one node; expected one of the two')
  const options = { kubeconfig: resolve(folder, kubeconfig), node, kubelet: parseKubelet(kubelet) }
  return { kind: 'node-page', options: { ...options, port: port === undefined ? 0 : parsePort('page-port', port) } }
}

const KUBELET_PORT = '10250'

/** The address of a kubelet's port; its usual number may be left out. */
function parseKubelet(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined
  const given = text.includes('://') ? text : `https://${text}`
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol !== 'https:' || url.pathname !== '/' || url.search !== '' || url.username !== '')
    throw wrong(`Cannot use "${text}" as --kubelet: expected an address such as https://HOST:${KUBELET_PORT}`)
  if (url.port === '' && !/:443\/?$/.test(given)) url.port = KUBELET_PORT
  return url
}

function parseLogs(args: readonly string[], folder: string): LogsOptions {
  const [first] = args
  const named = first !== undefined && !first.startsWith('-')
  const part = named ? LOGGED_PARTS.find((name) => name === first) : 'agent'
  if (part === undefined) throw wrong(`Cannot show the log of "${first}": expected ${LOGGED_PARTS.join(', ')}`)
  const values = parse(named ? args.slice(1) : args, {
    state: textOption,
    follow: { type: 'boolean', short: 'f' },
    lines: { ...textOption, short: 'n' },
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
  const { values, names } = parseNamed(args, {
    state: textOption,
    ...(command === 'restore' ? { keys: textOption } : {}),
  })
  const [file, ...others] = names
  if (file === undefined || others.length > 0)
    throw wrong(`Cannot ${command === 'backup' ? 'back up' : command}: expected one file`)
  return {
    state: resolve(folder, values['state'] ?? DEFAULT_STATE),
    file: resolve(folder, file),
    keys: values['keys'] === undefined ? undefined : resolve(folder, values['keys']),
  }
}

function parseSimulate(args: readonly string[], folder: string): SimulationOptions {
  const values = parse(args, Object.fromEntries(SIMULATION_FLAGS.map((name) => [name, textOption])))
  try {
    return parseSimulation(values, (path) => resolve(folder, path))
  } catch (error) {
    throw wrong(errorMessage(error))
  }
}

function parseShutdown(args: readonly string[], folder: string): ShutdownOptions {
  const values = parse(args, { state: textOption, 'root-dir': textOption, cancel: { type: 'boolean' } })
  const rootDirectory = values['root-dir']
  return {
    state: resolve(folder, values.state ?? DEFAULT_STATE),
    rootDirectory: rootDirectory === undefined ? undefined : resolve(folder, rootDirectory),
    cancel: values.cancel ?? false,
  }
}
