import { ConfigError } from '../config-error.ts'
import { API_VERSION, KIND } from '../kubelet-configuration.ts'
import type { ConfigFiles } from './config-files.ts'
import { toPlain } from './json-value.ts'
import { parseDocument, type ParsedDocument } from './parse-document.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

const LARGEST_FILE_BYTES = 10 * 1024 * 1024

/** The kind of a configuration file and the versions of it that we know. */
export interface FileHeader {
  readonly apiVersions: readonly string[]
  readonly kind: string
}

const KUBELET_CONFIGURATION: FileHeader = { apiVersions: [API_VERSION], kind: KIND }

/** Reads a file of the configuration; its header must name the kind and version that we know. */
export async function readConfigFile(
  path: string,
  files: ConfigFiles,
  header = KUBELET_CONFIGURATION,
): Promise<ParsedDocument> {
  try {
    const document = parseDocument(await files.readFile(path, LARGEST_FILE_BYTES))
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
    const rule = errorMessage(error)
    throw new ConfigError([{ path, value: undefined, rule }], { cause: error })
  }
}
