import { isPodUid } from '../pod/pod.ts'
import type { Pod } from '../pod/pod.ts'
import { decodeObject } from './decode-object.ts'
import { defaultPod } from './default-pod.ts'
import type { ManifestPod } from './default-pod.ts'
import { FieldPath } from './field-path.ts'
import { ManifestError } from './manifest-error.ts'
import type { ManifestProblem } from './manifest-error.ts'
import type { DocumentValue } from '../../base/document/document-value.ts'
import { isRecord } from '../../base/document/is-record.ts'
import type { ParseBudget } from '../../base/document/parse-budget.ts'
import { parseManifest } from './parse-manifest.ts'
import type { LocatedManifest } from './parse-manifest.ts'
import { findApiReferences, findClaimReferences } from './static-pod-references.ts'
import type { Violation } from './validation/problem-list.ts'
import { validatePod } from './validate-pod.ts'
import type { PodRules } from './validate-pod.ts'

/** How a manifest becomes pods. */
export interface DecodeOptions {
  /** Gives a defaulted pod its identity; its result is what is validated. */
  readonly identify: (pod: ManifestPod) => Pod
  /** Refuse pods that need the API server to start. Parity: the gate PreventStaticPodAPIReferences. */
  readonly refuseApiReferences: boolean
  readonly rules?: PodRules
  /** May the manifest be a PodList? A file holds one Pod. */
  readonly allowList: boolean
  /** What the documents of one file may have together. */
  readonly budget?: ParseBudget
}

/** The pods of a manifest, and what was left out of them. */
export interface DecodedManifest {
  readonly kind: 'pods'
  readonly pods: readonly Pod[]
  readonly warnings: readonly ManifestProblem[]
}

/**
 * Bytes of a manifest (a Pod, or a PodList) → pods that are complete and legal. Throws ManifestError with every problem at once;
 * one bad pod of a list refuses the list. Unknown fields are warnings: the pod runs, and each of them is named.
 */
export function decodePods(bytes: Uint8Array, options: DecodeOptions): DecodedManifest {
  const manifest = parseManifest(bytes, options.budget)
  const kind = kindOf(manifest, options.allowList)
  const decoded = decodeObject(manifest.value, kind)
  failWith(manifest, decoded.errors)
  const list =
    kind === 'Pod' ? [decoded.value] : (decoded.value['items'] as readonly Readonly<Record<string, unknown>>[])
  const pods: Pod[] = []
  const violations: Violation[] = []
  for (const [index, value] of list.entries()) {
    const root = kind === 'Pod' ? FieldPath.root : FieldPath.root.child('items').index(index)
    const pod = completePod(value, root, options, violations)
    if (pod !== undefined) pods.push(pod)
  }
  // A field that is missing is often one whose name has a mistake.
  if (violations.length > 0) failWith(manifest, [...violations, ...decoded.warnings])
  return { kind: 'pods', pods, warnings: decoded.warnings.map((warning) => locate(manifest, warning)) }
}

function completePod(
  value: Readonly<Record<string, unknown>>,
  root: FieldPath,
  options: DecodeOptions,
  violations: Violation[],
): Pod | undefined {
  const { metadata = {}, spec = { containers: [] }, status } = value as Partial<ManifestPod>
  if (!metadata.name) {
    violations.push({ path: root.child('metadata').child('name'), rule: 'Required value' })
    return undefined
  }
  if (metadata.uid && !isPodUid(metadata.uid)) {
    const rule = `Invalid value: ${JSON.stringify(metadata.uid)}: must be 1 to 63 letters, digits and dashes`
    violations.push({ path: root.child('metadata').child('uid'), rule, value: metadata.uid })
    return undefined
  }
  const pod = options.identify(defaultPod({ metadata, spec, status }))
  violations.push(...validatePod(pod, root, options.rules))
  const findReferences = options.refuseApiReferences ? findApiReferences : findClaimReferences
  violations.push(...findReferences(pod.spec, root))
  return pod
}

function kindOf(manifest: LocatedManifest, allowList: boolean): 'Pod' | 'PodList' {
  const { value } = manifest
  if (!isRecord(value)) fail(manifest, [], 'expected an object with apiVersion and kind')
  const { apiVersion, kind } = value
  if (typeof kind === 'string' && kind !== '' && kind !== 'Pod' && kind !== 'PodList') {
    const where = 'apply it to the API instead ("kubectl apply", or the folder of "deckhand up --apply")'
    fail(
      manifest,
      ['kind'],
      `expected ${allowList ? '"Pod" or "PodList"' : '"Pod"'}, not ${JSON.stringify(shown(kind))}: ${where}`,
    )
  }
  if (apiVersion !== 'v1') {
    fail(manifest, ['apiVersion'], `expected "v1", not ${JSON.stringify(shown(apiVersion))}`)
  }
  if (kind === 'Pod' || (kind === 'PodList' && allowList)) return kind
  return fail(
    manifest,
    ['kind'],
    `expected ${allowList ? '"Pod" or "PodList"' : '"Pod"'}, not ${JSON.stringify(shown(kind))}`,
  )
}

function shown(value: DocumentValue | undefined): unknown {
  return typeof value === 'string' ? value.slice(0, 100) : value === undefined ? null : typeof value
}

function fail(manifest: LocatedManifest, segments: readonly string[], rule: string): never {
  throw new ManifestError([{ path: segments.join('.'), rule, ...manifest.locate(segments) }])
}

function failWith(manifest: LocatedManifest, violations: readonly Violation[]): void {
  if (violations.length > 0) throw new ManifestError(violations.map((violation) => locate(manifest, violation)))
}

function locate(manifest: LocatedManifest, { path, rule, value }: Violation): ManifestProblem {
  return {
    path: path.toString(),
    rule,
    ...(value !== undefined && { value }),
    ...manifest.locate(path.segments),
  }
}
