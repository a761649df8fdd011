import { ConfigError, FlagError } from '../../src/model/config/config-error.ts'
import { toConfigDocument } from '../../src/model/config/kubelet-configuration.ts'
import { loadConfiguration, type Settings } from '../../src/model/config/load-configuration.ts'
import type { Machine } from '../../src/model/config/to-effective-configuration.ts'
import { FakeConfigFiles } from './fake-config-files.ts'

export const MACHINE: Machine = { hostname: 'Node-1', cgroupVersion: 2, onlineCpus: [0, 1, 2, 3] }
export const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'

type Entries = ConstructorParameters<typeof FakeConfigFiles>[0]

/** Loads settings from arguments and files in memory, on a machine that is made up. */
export async function loadSettings(
  argv: readonly string[],
  entries: Entries = {},
  machine = MACHINE,
): Promise<Settings> {
  const result = await loadConfiguration(argv, { files: new FakeConfigFiles(entries), machine })
  if (result.kind !== 'run') throw new Error(`expected a run instead of ${result.kind}`)
  return result.settings
}

/** The same for one file with these fields, given by --config, on a node with an API server. */
export async function loadFields(fields: object, machine = MACHINE): Promise<Settings> {
  const document = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields }
  const argv = ['--kubeconfig=/kubeconfig', '--config=/kubelet.json']
  return loadSettings(argv, { '/kubelet.json': JSON.stringify(document) }, machine)
}

/** The effective value at a path, in the form of the file; undefined when it is not written. */
export function shown(settings: Settings, path: string): unknown {
  const document = toConfigDocument(settings.config) as Readonly<Record<string, unknown>>
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], document)
}

/** The problems for which settings are refused: the paths of fields, or the sentences about flags. */
export async function problemsOf(loading: Promise<unknown>): Promise<readonly string[]> {
  try {
    await loading
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, rule }) => `${path}: ${rule}`)
    if (error instanceof FlagError) return error.problems
    throw error
  }
}

/** An object with one value, at a path. */
export function nest(path: string, value: unknown): Readonly<Record<string, unknown>> {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Readonly<
    Record<string, unknown>
  >
}
