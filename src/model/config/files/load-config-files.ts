import { dirname, resolve } from 'node:path'
import { ConfigError } from '../config-error.ts'
import type { Fields } from '../kinds/field.ts'
import { CONFIGURATION, encodeConfiguration, type GivenConfiguration } from '../kubelet-configuration.ts'
import { DEFAULT_EVICTION_HARD } from '../rules/eviction-rules.ts'
import type { ConfigFiles } from './config-files.ts'
import { decodeConfiguration, findUnknownFields, matchCase, repairCase } from './decode-configuration.ts'
import type { DecodedConfiguration } from './decode-configuration.ts'
import { listDropIns } from './list-drop-ins.ts'
import { locateField, type ConfigSource } from './locate-field.ts'
import { nearestLine, type ParsedDocument } from './parse-document.ts'
import { readConfigFile } from './read-config-file.ts'
import { isJsonObject, type Json, type JsonObject } from './json-value.ts'

/** A configuration, with lines about what was odd on the way to it. */
export interface LoadedConfiguration extends DecodedConfiguration {
  readonly warnings: readonly string[]
  /** In the order in which they apply. */
  readonly sources: readonly ConfigSource[]
}

const FIELDS: Fields = CONFIGURATION.fields ?? {}

function resolvePaths<T extends object>(values: T, fields: Fields, folder: string): T {
  const entries = Object.entries(values).map(([name, value]: [string, unknown]) => {
    const field = fields[name]
    if (field?.fields !== undefined) return [name, resolvePaths(value as object, field.fields, folder)]
    return [name, field?.isPath === true && value !== '' ? resolveFrom(folder, String(value)) : value]
  })
  return Object.fromEntries(entries) as T
}

function resolveFrom(folder: string, path: string): string {
  return path.startsWith('/') ? path : resolve(folder, path)
}

function withEvictionDefaults(config: GivenConfiguration): GivenConfiguration {
  const { evictionHard, mergeDefaultEvictionSettings } = config
  if (evictionHard !== undefined && !mergeDefaultEvictionSettings) return config
  return { ...config, evictionHard: { ...DEFAULT_EVICTION_HARD, ...evictionHard } }
}

function listUnknown(path: string, { root, lineOf }: ParsedDocument): readonly string[] {
  return findUnknownFields(root).map((name) => {
    const known = name.includes('.') ? undefined : matchCase(FIELDS, name)
    const hint = known === undefined ? '' : `, which is written ${known}`
    return `${path} line ${lineOf(name) ?? 1}: unknown field ${name}${hint}`
  })
}

function listMore(path: string, { hasMore }: ParsedDocument): readonly string[] {
  return hasMore ? [`${path}: only the first document of the file is used`] : []
}

/** Reads the file of --config: unknown fields are left out and of a field given twice the last counts, with a warning each. */
async function loadConfigFile(path: string, files: ConfigFiles): Promise<LoadedConfiguration> {
  const document = await readConfigFile(path, files)
  const locate = (field: string) => `${path} line ${nearestLine(document, field)}`
  const decoded = decodeConfiguration(document.root, locate)
  const config = withEvictionDefaults(resolvePaths(decoded.config, FIELDS, dirname(resolve(path))))
  const twice = document.duplicates.map(
    (field) => `${path} line ${field.line}: field ${field.path} is given twice, the last one counts`,
  )
  const warnings = [...listUnknown(path, document), ...twice, ...listMore(path, document)]
  return { config, problems: decoded.problems, warnings, sources: [{ path, document, ignoresCase: false }] }
}

/** Merges the drop-ins over the document of the configuration so far. */
async function loadDropIns(
  base: LoadedConfiguration,
  paths: readonly string[],
  files: ConfigFiles,
): Promise<LoadedConfiguration> {
  const warnings: string[] = []
  const sources = [...base.sources]
  let merged: JsonObject = encodeConfiguration(base.config)
  for (const path of paths) {
    const document = await readConfigFile(path, files)
    if (document.duplicates.length > 0) {
      const rule = 'expected each field once'
      throw new ConfigError(
        document.duplicates.map((field) => ({
          path: field.path,
          value: undefined,
          rule: `${rule} (${path} line ${field.line})`,
        })),
      )
    }
    warnings.push(...listUnknown(path, document), ...listMore(path, document))
    merged = mergePatch(merged, document.root)
    sources.push({ path, document, ignoresCase: true })
  }
  const locate = (field: string) => locateField(sources, field) ?? `after merging ${paths.join(', ')}`
  const decoded = decodeConfiguration(repairCase(merged, FIELDS), locate)
  return { ...decoded, warnings, sources }
}

/** The configuration of the file and the drop-ins; the defaults when there is neither. */
export async function loadConfigFiles(
  given: { readonly config: string; readonly configDir: string },
  files: ConfigFiles,
): Promise<LoadedConfiguration> {
  const base =
    given.config === ''
      ? { config: CONFIGURATION.unset, problems: [], warnings: [], sources: [] }
      : await loadConfigFile(given.config, files)
  if (given.configDir === '') return base
  const paths = await listDropIns(given.configDir, files)
  const merged = await loadDropIns(base, paths, files)
  return {
    config: merged.config,
    problems: [...base.problems, ...merged.problems],
    warnings: [...base.warnings, ...merged.warnings],
    sources: merged.sources,
  }
}

/** JSON merge patch (RFC 7386): objects merge key by key, null removes, anything else replaces. */
function mergePatch(target: Json | undefined, patch: JsonObject): JsonObject {
  const result = new Map(isJsonObject(target) ? target : [])
  for (const [key, value] of patch) {
    if (value === null) result.delete(key)
    else result.set(key, isJsonObject(value) ? mergePatch(result.get(key), value) : value)
  }
  return result
}
