import type { Toleration } from '../../model/generated/core-v1.ts'
import { CONFIG_HASH_ANNOTATION, ETCD_KEY_ANNOTATION, parsePodUid } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { decodePods } from '../../model/schema/decode-pods.ts'
import type { DecodedManifest, DecodeOptions } from '../../model/schema/decode-pods.ts'
import { ManifestError } from '../../model/schema/manifest-error.ts'
import type { ManifestProblem } from '../../model/schema/manifest-error.ts'
import { MAX_MANIFEST_BYTES, MAX_MANIFEST_DOCUMENTS } from '../../model/schema/parse-manifest.ts'
import { ParseBudget } from '../../base/document/parse-budget.ts'
import { TextError } from '../../base/document/parse-text.ts'
import { splitDocuments } from '../../base/document/split-documents.ts'
import type { SplitDocument } from '../../base/document/split-documents.ts'
import type { PodRules } from '../../model/schema/validate-pod.ts'
import type { ManifestPod } from '../../model/schema/default-pod.ts'
import { canonicalJson } from './canonical-json.ts'
import { fnv128 } from './fnv128.ts'

/** Where a manifest came from; part of the identity of its pod. */
export type StaticPodOrigin =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'etcd'; readonly key: string }

/** The settings of this node that go into its static pods. */
export interface StaticPodSettings {
  readonly nodeName: string
  /** Refuse pods that refer to objects of the API. Parity: the gate PreventStaticPodAPIReferences. */
  readonly refuseApiReferences: boolean
  /** What is legal only where a feature is on. */
  readonly rules?: PodRules
}

// More of them help no one, and each document takes time.
const MOST_PROBLEMS = 10

// Node problems must not evict what was put on the node by hand.
const NO_EXECUTE: Toleration = { operator: 'Exists', effect: 'NoExecute' }

/** Bytes of a manifest → static pods of this node; throws ManifestError. */
export function decodeStaticPods(
  bytes: Uint8Array,
  origin: StaticPodOrigin,
  settings: StaticPodSettings,
): DecodedManifest {
  const options = {
    identify: (pod: ManifestPod) => identifyStaticPod(pod, origin, settings.nodeName),
    refuseApiReferences: settings.refuseApiReferences,
    ...(settings.rules && { rules: settings.rules }),
    allowList: origin.kind === 'http',
  }
  const documents = origin.kind === 'file' && bytes.length <= MAX_MANIFEST_BYTES ? split(bytes) : []
  return documents.length > 1 ? decodeDocuments(documents, options) : decodePods(bytes, options)
}

function split(bytes: Uint8Array): readonly SplitDocument[] {
  try {
    return splitDocuments(bytes, MAX_MANIFEST_DOCUMENTS)
  } catch (error) {
    if (!(error instanceof TextError)) throw error
    throw new ManifestError([{ path: '', rule: error.message, ...error.place }])
  }
}

/** Each document is a pod. What is wrong with any of them refuses the file, so that it never runs in part. */
function decodeDocuments(documents: readonly SplitDocument[], options: Omit<DecodeOptions, 'budget'>): DecodedManifest {
  const budget = new ParseBudget()
  const problems: ManifestProblem[] = []
  const pods: Pod[] = []
  const warnings: ManifestProblem[] = []
  for (const { bytes, line } of documents) {
    const shift = (problem: ManifestProblem) => ({ ...problem, line: problem.line + line })
    if (problems.length >= MOST_PROBLEMS || budget.isSpent) {
      problems.push(shift({ path: '', rule: 'not read from here on', line: 1, column: 1 }))
      break
    }
    try {
      const decoded = decodePods(bytes, { ...options, budget })
      pods.push(...decoded.pods)
      warnings.push(...decoded.warnings.map(shift))
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error
      problems.push(...error.problems.map(shift))
    }
  }
  if (problems.length > 0) throw new ManifestError(problems)
  return { kind: 'pods', pods, warnings }
}

/** A static pod's identity follows from its content, its node and its place, so that it survives a restart of the agent. */
function identifyStaticPod(pod: ManifestPod, origin: StaticPodOrigin, nodeName: string): Pod {
  const { metadata, spec } = pod
  const uid = parsePodUid(
    metadata.uid || fnv128(`${canonicalJson(identityOf(pod, origin))}host:${nodeName}${placeOf(origin)}`),
  )
  return {
    metadata: {
      ...metadata,
      uid,
      name: `${metadata.name ?? ''}-${nodeName.toLowerCase()}`,
      namespace: metadata.namespace || 'default',
      annotations: {
        ...metadata.annotations,
        [CONFIG_HASH_ANNOTATION]: uid,
        ...(origin.kind === 'etcd' && { [ETCD_KEY_ANNOTATION]: origin.key }),
      },
    },
    spec: {
      ...spec,
      nodeName,
      ...(origin.kind === 'file' && { tolerations: addToleration(spec.tolerations ?? [], NO_EXECUTE) }),
    },
    status: { ...pod.status, phase: 'Pending' },
  }
}

/** Parity: all that a file or a URL says makes another pod. A pod in etcd is the same one when only its labels or annotations change. */
function identityOf({ metadata, spec }: ManifestPod, { kind }: StaticPodOrigin) {
  switch (kind) {
    case 'file':
    case 'http':
      return { metadata, spec }
    case 'etcd':
      return { namespace: metadata.namespace, name: metadata.name, spec }
  }
}

function placeOf(origin: StaticPodOrigin): string {
  switch (origin.kind) {
    case 'file':
      return `file:${origin.path}`
    case 'http':
      return `url:${origin.url}`
    case 'etcd':
      return `etcd:${origin.key}`
  }
}

/** Adds a toleration, or puts it in the place of one that differs only in how long it lasts. */
function addToleration(tolerations: readonly Toleration[], added: Toleration): readonly Toleration[] {
  const isSame = ({ key, operator, value, effect }: Toleration) =>
    (key ?? '') === (added.key ?? '') &&
    operator === added.operator &&
    (value ?? '') === (added.value ?? '') &&
    effect === added.effect
  return tolerations.some(isSame) ? tolerations.map((each) => (isSame(each) ? added : each)) : [...tolerations, added]
}
