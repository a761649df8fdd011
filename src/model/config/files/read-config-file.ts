import { ConfigError } from '../config-error.ts'
import { API_VERSION, KIND } from '../kubelet-configuration.ts'
import type { ConfigFiles } from './config-files.ts'
import { toPlain } from './json-value.ts'
import { parseDocument, type ParsedDocument } from './parse-document.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

export const LARGEST_FILE_BYTES = 10 * 1024 * 1024

/** The kind of a configuration file and the versions of it that we know. */
export interface FileHeader {
  readonly apiVersions: readonly string[]
  readonly kind: string
}

const KUBELET_CONFIGURATION: FileHeader = { apiVersions: [API_VERSION], kind: KIND }
const MANIFEST_KINDS: ReadonlySet<unknown> = new Set(['Pod', 'PodList', 'List'])
const MANIFESTS_ELSEWHERE =
  'since Kubernetes 1.10 --config names a file with the configuration; manifests of pods go to --pod-manifest-path or staticPodPath'

/** Reads a file of the configuration; its header must name the kind and version that we know. */
export async function readConfigFile(
  path: string,
  files: ConfigFiles,
  header = KUBELET_CONFIGURATION,
): Promise<ParsedDocument> {
  try {
    const document = parseDocument(await files.readFile(path, LARGEST_FILE_BYTES))
    if (header === KUBELET_CONFIGURATION && MANIFEST_KINDS.has(document.root.get('kind')))
      throw new Error(`expected ${KIND}: ${MANIFESTS_ELSEWHERE}`)
    for (const [name, expected] of [
      ['apiVersion', header.apiVersions],
      ['kind', [header.kind]],
    ] as const) {
      const value = document.root.get(name) ?? null
      if (!expected.some((known) => known === value)) {
        const rule = `expected ${expected.join(' or ')}`
        throw new ConfigError([{ path: `${path}: ${name}`, value: toPlain(value), rule }])
      }
    }
    return document
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const rule =
      error instanceof Error && 'code' in error && error.code === 'EISDIR'
        ? `is a folder: ${MANIFESTS_ELSEWHERE}`
        : errorMessage(error)
    throw new ConfigError([{ path, value: undefined, rule }], { cause: error })
  }
}
