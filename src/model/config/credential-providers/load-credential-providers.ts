import { createHash } from 'node:crypto'
import { ConfigError, type ConfigProblem } from '../config-error.ts'
import type { ConfigFiles } from '../files/config-files.ts'
import { toPlain, type Json } from '../files/json-value.ts'
import { nearestLine } from '../files/parse-document.ts'
import { LARGEST_FILE_BYTES, readConfigFile, type FileHeader } from '../files/read-config-file.ts'
import type { FeatureGates } from '../gates/feature-gates.ts'
import { object, objectList } from '../kinds/collection-kinds.ts'
import type { Decoded } from '../kinds/field.ts'
import { suggestion } from '../values/suggestion.ts'
import { providerFields, providerFieldsV1 } from './credential-provider-fields.ts'
import { findProviderProblems } from './find-provider-problems.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

/** A credential plugin as its file describes it. */
export type GivenProvider = Decoded<typeof providerFields> &
  Partial<Pick<Decoded<typeof providerFieldsV1>, 'tokenAttributes'>>

/** A credential plugin, checked: everything that is needed is there. */
export type CredentialProvider = GivenProvider & {
  readonly apiVersion: NonNullable<GivenProvider['apiVersion']>
  readonly defaultCacheDuration: number
  /** The file to run. */
  readonly program: string
}

/** All credential plugins. */
export interface CredentialProviders {
  readonly providers: readonly CredentialProvider[]
  /** Of the files that name them; undefined when there are none. */
  readonly hash: string | undefined
}

const GROUP = 'kubelet.config.k8s.io'
const HEADER: FileHeader = {
  apiVersions: [`${GROUP}/v1`, `${GROUP}/v1beta1`, `${GROUP}/v1alpha1`],
  kind: 'CredentialProviderConfig',
}
const about = 'the credential plugins'
const listField = { default: [], about }
const FIELDS = { providers: objectList(providerFields, listField) }
const FIELDS_V1 = { providers: objectList(providerFieldsV1, listField) }
const CONFIG_FLAG = '--image-credential-provider-config'
const FOLDER_FLAG = '--image-credential-provider-bin-dir'

interface ProviderFlags {
  readonly imageCredentialProviderConfig: string
  readonly imageCredentialProviderBinDir: string
}

/** Reads and checks the file, or every file of the folder, that names the credential plugins. All problems are reported at once. */
export async function loadCredentialProviders(
  flags: ProviderFlags,
  files: ConfigFiles,
  gates: FeatureGates,
): Promise<CredentialProviders> {
  const { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: folder } = flags
  if (config === '' && folder === '') return { providers: [], hash: undefined }
  if (config === '' || folder === '') {
    const [missing, given] = config === '' ? [CONFIG_FLAG, FOLDER_FLAG] : [FOLDER_FLAG, CONFIG_FLAG]
    throw new ConfigError([{ path: missing, value: undefined, rule: `expected a path, because ${given} is given` }])
  }
  const problems: ConfigProblem[] = []
  const providers: GivenProvider[] = []
  const hash = createHash('sha256')
  for (const path of await listFiles(config, files)) {
    const found = await readProviders(path, files, { gates, taken: providers.map(({ name }) => name) })
    providers.push(...found.providers)
    problems.push(...found.problems)
    const content = await files.readFile(path, LARGEST_FILE_BYTES)
    hash.update(toLengthPrefix(content)).update(content)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    // What is missing was reported above.
    providers: (providers as CredentialProvider[]).map((provider) => ({
      ...provider,
      program: `${folder.replace(/\/+$/, '')}/${provider.name}`,
    })),
    hash: `sha256:${hash.digest('hex')}`,
  }
}

async function readProviders(
  path: string,
  files: ConfigFiles,
  context: { readonly gates: FeatureGates; readonly taken: readonly string[] },
): Promise<{ readonly providers: readonly GivenProvider[]; readonly problems: readonly ConfigProblem[] }> {
  const document = await readConfigFile(path, files, HEADER)
  const { apiVersion, kind: _, ...fields } = Object.fromEntries(document.root)
  const [v1] = HEADER.apiVersions
  const table = object<typeof FIELDS>(apiVersion === v1 ? FIELDS_V1 : FIELDS, { about })
  const names = Object.keys(apiVersion === v1 ? providerFieldsV1 : providerFields)
  const problems: ConfigProblem[] = []
  const problem = (field: string, value: unknown, rule: string) =>
    void problems.push({
      path: field,
      value: toPlain(value as Json),
      rule: `${rule} (${path} line ${nearestLine(document, field)})`,
    })
  const findings = {
    problem,
    unknownField: (field: string) => {
      const name = field.slice(field.lastIndexOf('.') + 1)
      problem(field, undefined, `unknown field${suggestion(name, names)}`)
    },
  }
  const { providers } = table.decode(new Map(Object.entries(fields)), '', findings)
  table.check({ providers }, '', findings)
  findProviderProblems(providers, { ...context, problem })
  return { providers, problems }
}

/** So that no two lists of files have the same hash. */
function toLengthPrefix({ byteLength }: Uint8Array): Uint8Array {
  const prefix = Buffer.alloc(8)
  prefix.writeBigUInt64BE(BigInt(byteLength))
  return prefix
}

async function listFiles(path: string, files: ConfigFiles): Promise<readonly string[]> {
  try {
    // With the slash, links are followed.
    const kind = await files.entryKind(`${path.replace(/\/+$/, '')}/`).catch(() => 'file')
    if (kind !== 'directory') return [path]
    const names = (await files.listDirectory(path))
      .filter(({ name, kind: entry }) => entry !== 'directory' && /\.(?:json|yaml|yml)$/.test(name))
      .map(({ name }) => name)
      .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    if (names.length === 0) throw new Error('expected a file with .json, .yaml or .yml at the end of its name in it')
    return names.map((name) => `${path.replace(/\/+$/, '')}/${name}`)
  } catch (error) {
    const rule = errorMessage(error)
    throw new ConfigError([{ path: CONFIG_FLAG, value: path, rule }], { cause: error })
  }
}
