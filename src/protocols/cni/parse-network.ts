import { isRecord } from '../../base/document/is-record.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { CniError } from './cni-error.ts'

type Json = Readonly<Record<string, unknown>>

/** One plugin of a network. */
export interface CniPlugin {
  /** The name of its program. */
  readonly type: string
  /** What it takes from the runtime, such as `portMappings`. */
  readonly capabilities: readonly string[]
  /** Its part of the configuration without what is the runtime's. */
  readonly settings: Json
}

/** A network that pods can be attached to: its plugins run one after the other. */
export interface CniNetwork {
  readonly name: string
  readonly version: string
  readonly disableCheck: boolean
  readonly plugins: readonly CniPlugin[]
  /** The configuration as text: kept, so that a pod is detached by what it was attached by. */
  readonly text: string
}

const CONFIGURATION = /\.(?:conf|conflist|json)$/
const LIST_EXTENSION = '.conflist'
const OLDEST_VERSION = '0.1.0'
// Names become names of files.
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/

/** The files of a folder that may have configurations, in the order in which they are tried. */
export function listConfigurations(names: readonly string[]): readonly string[] {
  return names.filter((name) => CONFIGURATION.test(name)).toSorted()
}

/** The network in a file: a list of plugins, or one plugin alone. */
export function parseNetworkFile(fileName: string, text: string): CniNetwork {
  const value = parse(fileName, text)
  const isList = fileName.endsWith(LIST_EXTENSION)
  if (!isList && value['type'] === undefined)
    throw fault(fileName, 'no "type"; a file with "plugins" is expected to be named .conflist')
  return toNetwork(fileName, value, isList ? value['plugins'] : [value], text)
}

/** The network of a text that was kept, whatever the name of its file was. */
export function parseKeptNetwork(text: string): CniNetwork {
  const value = parse('kept configuration', text)
  return toNetwork('kept configuration', value, value['type'] === undefined ? value['plugins'] : [value], text)
}

function parse(place: string, text: string): Json {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw fault(place, errorMessage(error))
  }
  if (!isRecord(value)) throw fault(place, 'expected an object')
  return value
}

function toNetwork(place: string, value: Json, plugins: unknown, text: string): CniNetwork {
  const { name, cniVersion: version = OLDEST_VERSION, disableCheck } = value
  if (typeof name !== 'string' || !NAME.test(name))
    throw fault(place, 'expected a "name" of letters, digits, ".", "_" and "-"')
  if (typeof version !== 'string') throw fault(place, 'expected a text as "cniVersion"')
  if (!Array.isArray(plugins) || plugins.length === 0) throw fault(place, 'expected "plugins", at least one')
  return {
    name,
    version: version === '' ? OLDEST_VERSION : version,
    // Some wrote it as text.
    disableCheck: disableCheck === true || disableCheck === 'true',
    plugins: plugins.map((plugin: unknown) => toPlugin(place, plugin)),
    text,
  }
}

function toPlugin(place: string, value: unknown): CniPlugin {
  if (!isRecord(value)) throw fault(place, 'expected objects in "plugins"')
  const { capabilities, name: _name, cniVersion: _version, ...settings } = value
  const { type } = settings
  if (typeof type !== 'string' || !NAME.test(type)) throw fault(place, 'expected the name of a program as "type"')
  const asked = isRecord(capabilities) ? Object.entries(capabilities).filter(([, isOn]) => isOn === true) : []
  return { type, capabilities: asked.map(([name]) => name), settings }
}

function fault(place: string, what: string): CniError {
  return new CniError(`Cannot use CNI configuration "${place}": ${what}`)
}
