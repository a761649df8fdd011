import type { ObjectIdentity } from './credential.ts'
import { isRecord } from '../../../base/document/is-record.ts'

/** A Secret whose login once pulled an image. */
export interface RecordedSecret extends ObjectIdentity {
  readonly credentialHash: string
}

/** Who may use an image of one repository: every pod of the node, or those that have one of these. */
export interface ImageAccessRights {
  readonly nodePodsAccessible?: boolean
  readonly kubernetesSecrets?: readonly RecordedSecret[]
  readonly kubernetesServiceAccounts?: readonly ObjectIdentity[]
}

/** That the agent itself pulled an image, and with what. */
export interface PullRecord {
  readonly imageRef: string
  /** RFC 3339. */
  readonly lastUpdatedTime: string
  /** By repository; empty when it is not known who may use the image. */
  readonly credentialMapping: Readonly<Record<string, ImageAccessRights>>
}

/** A file of image_manager that cannot be used. */
class PullRecordError extends Error {
  override readonly name = 'PullRecordError'
}

const API_VERSION = 'kubelet.config.k8s.io/v1beta1'
const KNOWN_VERSIONS: readonly unknown[] = [API_VERSION, 'kubelet.config.k8s.io/v1alpha1']
const RECORD_KIND = 'ImagePulledRecord'
const INTENT_KIND = 'ImagePullIntent'

export function formatPullRecord(record: PullRecord): string {
  return JSON.stringify({ kind: RECORD_KIND, apiVersion: API_VERSION, ...record })
}

export function formatPullIntent(image: string): string {
  return JSON.stringify({ kind: INTENT_KIND, apiVersion: API_VERSION, image })
}

/** The image that a pull was about. */
export function parsePullIntent(text: string): string {
  return toText(parseObject(text, INTENT_KIND), 'image')
}

export function parsePullRecord(text: string): PullRecord {
  const root = parseObject(text, RECORD_KIND)
  const mapping = root['credentialMapping'] ?? {}
  expect(isRecord(mapping), 'credentialMapping is not an object')
  return {
    imageRef: toText(root, 'imageRef'),
    lastUpdatedTime: toText(root, 'lastUpdatedTime'),
    credentialMapping: Object.fromEntries(Object.entries(mapping).map(([name, rights]) => [name, parseRights(rights)])),
  }
}

function parseRights(rights: unknown): ImageAccessRights {
  expect(isRecord(rights), 'an entry of credentialMapping is not an object')
  const { nodePodsAccessible = false } = rights
  expect(typeof nodePodsAccessible === 'boolean', 'nodePodsAccessible is neither true nor false')
  const secrets = parseList(rights, 'kubernetesSecrets', (secret) => ({
    ...parseIdentity(secret),
    credentialHash: toText(secret, 'credentialHash'),
  }))
  const accounts = parseList(rights, 'kubernetesServiceAccounts', parseIdentity)
  return {
    ...(nodePodsAccessible ? { nodePodsAccessible } : {}),
    ...(secrets.length === 0 ? {} : { kubernetesSecrets: secrets }),
    ...(accounts.length === 0 ? {} : { kubernetesServiceAccounts: accounts }),
  }
}

type Fields = Readonly<Record<string, unknown>>

function parseIdentity(fields: Fields): ObjectIdentity {
  return { uid: toText(fields, 'uid'), namespace: toText(fields, 'namespace'), name: toText(fields, 'name') }
}

function parseList<T>(fields: Fields, name: string, parse: (item: Fields) => T): readonly T[] {
  const list: unknown = fields[name] ?? []
  expect(Array.isArray(list), `${name} is not a list`)
  return list.map((item: unknown) => {
    expect(isRecord(item), `${name} has something that is not an object`)
    return parse(item)
  })
}

function parseObject(text: string, kind: string): Fields {
  let root: unknown
  try {
    root = JSON.parse(text)
  } catch (error) {
    throw new PullRecordError('it is not JSON', { cause: error })
  }
  expect(isRecord(root), 'it is not a JSON object')
  expect(root['kind'] === kind && KNOWN_VERSIONS.includes(root['apiVersion']), `it is no ${API_VERSION} ${kind}`)
  return root
}

function toText(fields: Fields, name: string): string {
  const value = fields[name]
  expect(typeof value === 'string', `${name} is not a text`)
  return value
}

function expect(isTrue: boolean, problem: string): asserts isTrue {
  if (!isTrue) throw new PullRecordError(problem)
}
