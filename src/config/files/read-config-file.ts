import { ConfigError } from '../config-error.ts'
import { API_VERSION, KIND } from '../kubelet-configuration.ts'
import type { ConfigFiles } from './config-files.ts'
import { toPlain } from './json-value.ts'
import { parseDocument, type ParsedDocument } from './parse-document.ts'

const LARGEST_FILE_BYTES = 10 * 1024 * 1024

/** Reads a file of the configuration; its header must name the kind and version that we know. */
export async function readConfigFile(path: string, files: ConfigFiles): Promise<ParsedDocument> {
  try {
    const document = parseDocument(await files.readFile(path, LARGEST_FILE_BYTES))
    for (const [name, expected] of [
      ['apiVersion', API_VERSION],
      ['kind', KIND],
    ] as const) {
      const value = document.root.get(name) ?? null
      if (value !== expected) {
        throw new ConfigError([{ path: `${path}: ${name}`, value: toPlain(value), rule: `expected ${expected}` }])
      }
    }
    return document
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const rule = error instanceof Error ? error.message : String(error)
    throw new ConfigError([{ path, value: undefined, rule }], { cause: error })
  }
}
