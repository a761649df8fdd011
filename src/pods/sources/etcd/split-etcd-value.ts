import { formatExactJson } from '../../../base/document/exact-json.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { ManifestError } from '../../../model/schema/manifest-error.ts'
import { parseManifest } from '../../../model/schema/parse-manifest.ts'
import { convertBoundPods } from './convert-bound-pods.ts'

/** One pod of a value, as a manifest of its own. */
export interface EtcdManifest {
  /** Distinguishes the pods of one value from one version of it to the next. */
  readonly name: string
  /** What people call it, with its place in the list; empty for a value that is one pod. */
  readonly item: string
  readonly bytes: Uint8Array
}

// What an API server writes in front of what it stores.
const STORED = /^k8s(\0|:enc:)/

/**
 * A value of etcd to the manifests in it: a Pod, a PodList or List, or the BoundPods of the first kubelets. One that cannot be read as a whole
 * throws ManifestError; each manifest is read by itself, so that a bad one harms no other.
 */
export function splitEtcdValue(bytes: Uint8Array): readonly EtcdManifest[] {
  const stored = STORED.exec(Buffer.from(bytes.subarray(0, 8)).toString('latin1'))
  if (stored !== null) {
    const what = stored[1] === '\0' ? 'in its binary form' : 'encrypted'
    fail(`stored by an API server ${what}, expected a Pod or a list of pods as JSON or YAML: use --kubeconfig`)
  }
  const { value } = parseManifest(bytes)
  if (!isRecord(value)) return [{ name: '', item: '', bytes }]
  const { kind } = value
  if (kind !== 'BoundPods' && kind !== 'PodList' && kind !== 'List') return [{ name: '', item: '', bytes }]
  // Encoders write null for an empty list. Anything else is no list, and not the end of its pods.
  const items: unknown = value['items'] ?? []
  if (!Array.isArray(items)) fail('expected a list', 'items')
  if (kind === 'BoundPods') return convertBoundPods(items).map(toManifest)
  // The items of a PodList need no header of their own.
  const header = kind === 'PodList' ? { apiVersion: 'v1', kind: 'Pod' } : {}
  return items.map((item: unknown, index) => toManifest({ ...header, ...(isRecord(item) ? item : {}) }, index))
}

function toManifest(pod: Readonly<Record<string, unknown>>, index: number): EtcdManifest {
  const { name, namespace } = isRecord(pod['metadata']) ? pod['metadata'] : {}
  const place = `items[${index}]`
  const isNamed = typeof name === 'string' && name !== ''
  const fullName = isNamed ? `${typeof namespace === 'string' && namespace !== '' ? namespace : 'default'}/${name}` : ''
  return {
    name: isNamed ? fullName : place,
    item: isNamed ? `${fullName} (${place})` : place,
    bytes: Buffer.from(formatExactJson(pod)),
  }
}

function fail(rule: string, path = ''): never {
  throw new ManifestError([{ path, rule, line: 1, column: 1 }])
}
