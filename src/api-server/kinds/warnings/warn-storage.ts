import { sameValue } from '../../../base/document/same-value.ts'
import type { CSIDriver } from '../../../model/generated/api-groups.ts'
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
} from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { warnOfFractions } from './warn-fractions.ts'
import { warnOfTerm } from './warn-pod.ts'
import { warningAt } from './warning-at.ts'

const SPEC = FieldPath.root.child('spec')
const ANNOTATIONS = FieldPath.root.child('metadata').child('annotations')
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'
const OPTIONS_ANNOTATION = 'volume.beta.kubernetes.io/mount-options'
const TOKENS_IN_ATTRIBUTES =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes'

/** Advice about a volume. */
export function warnOfVolume({ metadata, spec = {} }: PersistentVolume): readonly string[] {
  const { annotations = {} } = metadata ?? {}
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
  const path = SPEC.child('nodeAffinity').child('required').child('nodeSelectorTerms')
  return [
    ...warnOfAnnotation(
      annotations,
      CLASS_ANNOTATION,
      'deprecated since v1.8; use "storageClassName" attribute instead',
    ),
    ...warnOfAnnotation(
      annotations,
      OPTIONS_ANNOTATION,
      'deprecated since v1.31; use "mountOptions" attribute instead',
    ),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          warningAt(
            SPEC.child('persistentVolumeReclaimPolicy'),
            'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
          ),
        ]
      : []),
    ...terms.flatMap((term, index) => warnOfTerm(term, path.index(index))),
  ]
}

/** Advice about a claim. */
export function warnOfClaim({ metadata, spec = {} }: PersistentVolumeClaim): readonly string[] {
  const why = 'deprecated since v1.8; use "storageClassName" attribute instead'
  return [...warnOfAnnotation(metadata?.annotations ?? {}, CLASS_ANNOTATION, why), ...warnOfClaimSpec(spec, SPEC)]
}

export function warnOfClaimSpec({ resources }: PersistentVolumeClaimSpec = {}, path: FieldPath): readonly string[] {
  const at = path.child('resources')
  return [
    ...warnOfFractions(resources?.requests, at.child('requests'), ['storage']),
    ...warnOfFractions(resources?.limits, at.child('limits'), ['storage']),
  ]
}

/** Advice about a CSI driver. */
export function warnOfDriver({ spec }: CSIDriver, before: CSIDriver | undefined): readonly string[] {
  const { tokenRequests = [], serviceAccountTokenInSecrets } = spec
  if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return []
  return before !== undefined && sameValue(before.spec.tokenRequests, tokenRequests) ? [] : [TOKENS_IN_ATTRIBUTES]
}

function warnOfAnnotation(annotations: Readonly<Record<string, string>>, key: string, why: string): readonly string[] {
  return key in annotations ? [warningAt(ANNOTATIONS.key(key), why)] : []
}
