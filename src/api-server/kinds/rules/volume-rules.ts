import type { PersistentVolumeClaimSpec, PersistentVolumeSpec } from '../../../model/generated/core-v1.ts'
import { tryParseQuantity } from '../../../model/resources/quantity.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../../store/api-object.ts'
import type { ResourceRules } from '../resource.ts'
import { sameValue } from '../same-value.ts'
import { immutableFields } from './immutable-fields.ts'

const SPEC = FieldPath.root.child('spec')
const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
/** What keeps a volume or claim from being removed while it is used. */
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection'
export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection'
// Everything else of a volume's spec is its source, of which there is one.
const NO_SOURCE = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
])

export const persistentVolumeRules: ResourceRules = {
  fillDefaults: (object) => {
    const spec = (object['spec'] ?? {}) as PersistentVolumeSpec
    return {
      ...object,
      spec: {
        ...spec,
        persistentVolumeReclaimPolicy: spec.persistentVolumeReclaimPolicy || 'Retain',
        volumeMode: spec.volumeMode || 'Filesystem',
        ...(spec.hostPath && { hostPath: { ...spec.hostPath, type: spec.hostPath.type ?? '' } }),
      },
    }
  },
  prepareCreate: (object) => ({ ...withFinalizer(object, VOLUME_PROTECTION), status: { phase: 'Pending' } }),
  validate: (object) => {
    const problems = new ProblemList()
    const spec = object['spec'] as PersistentVolumeSpec
    validateModes(spec.accessModes, problems)
    validateStorage(spec.capacity, SPEC.child('capacity'), problems)
    problems.oneOf(SPEC.child('persistentVolumeReclaimPolicy'), spec.persistentVolumeReclaimPolicy, [
      'Delete',
      'Recycle',
      'Retain',
    ])
    problems.oneOf(SPEC.child('volumeMode'), spec.volumeMode, ['Block', 'Filesystem'])
    const sources = sourcesOf(spec)
    if (sources.length === 0) problems.required(SPEC, 'a volume has one source')
    if (sources.length > 1) problems.forbidden(SPEC.child(sources[1] ?? ''), 'a volume has one source')
    return problems.violations
  },
  validateUpdate: (object, before) => {
    const problems = new ProblemList()
    const [spec, old] = [object['spec'], before['spec']] as PersistentVolumeSpec[]
    const source = (from: PersistentVolumeSpec | undefined) =>
      Object.fromEntries(Object.entries(from ?? {}).filter(([name]) => !NO_SOURCE.has(name)))
    if (!sameValue(source(spec), source(old))) {
      problems.forbidden(SPEC, 'the source of a volume cannot change')
    }
    if (spec?.volumeMode !== old?.volumeMode)
      problems.invalid(SPEC.child('volumeMode'), spec?.volumeMode, 'field is immutable')
    return problems.violations
  },
}

export const persistentVolumeClaimRules: ResourceRules = {
  fillDefaults: (object) => {
    const spec = (object['spec'] ?? {}) as PersistentVolumeClaimSpec
    return { ...object, spec: { ...spec, volumeMode: spec.volumeMode || 'Filesystem' } }
  },
  prepareCreate: (object) => ({ ...withFinalizer(object, CLAIM_PROTECTION), status: { phase: 'Pending' } }),
  validate: (object) => {
    const problems = new ProblemList()
    const spec = object['spec'] as PersistentVolumeClaimSpec
    validateModes(spec.accessModes, problems)
    validateStorage(spec.resources?.requests, SPEC.child('resources'), problems)
    problems.oneOf(SPEC.child('volumeMode'), spec.volumeMode, ['Block', 'Filesystem'])
    return problems.violations
  },
  validateUpdate: (object, before) => {
    const problems = new ProblemList()
    const [spec, old] = [object['spec'], before['spec']] as PersistentVolumeClaimSpec[]
    const volumeName = old?.volumeName ? {} : { volumeName: undefined }
    const kept = { resources: undefined, volumeAttributesClassName: undefined, ...volumeName }
    if (!sameValue({ ...spec, ...kept }, { ...old, ...kept })) {
      problems.forbidden(SPEC, 'only resources.requests and volumeAttributesClassName of a claim may change')
    }
    return problems.violations
  },
}

export const csiDriverRules: ResourceRules = {
  fillDefaults: (object) => ({
    ...object,
    spec: {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
      requiresRepublish: false,
      seLinuxMount: false,
      ...(object['spec'] as object | undefined),
    },
  }),
  validateUpdate: immutableFields('spec', ['attachRequired', 'volumeLifecycleModes']),
}

export const volumeAttachmentRules: ResourceRules = {
  prepareCreate: (object) => ({ ...object, status: { attached: false } }),
  validate: (object) => {
    const problems = new ProblemList()
    const spec = object['spec'] as { attacher?: string; nodeName?: string; source?: Record<string, unknown> }
    if (!spec.attacher) problems.required(SPEC.child('attacher'))
    if (!spec.nodeName) problems.required(SPEC.child('nodeName'))
    if (Object.keys(spec.source ?? {}).length !== 1) {
      problems.required(SPEC.child('source'), 'either inlineVolumeSpec or persistentVolumeName')
    }
    return problems.violations
  },
  validateUpdate: immutableFields('spec'),
}

function withFinalizer(object: ApiObject, finalizer: string): ApiObject {
  const finalizers = object.metadata.finalizers ?? []
  if (finalizers.includes(finalizer)) return object
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } }
}

function validateModes(modes: readonly string[] | undefined, problems: ProblemList): void {
  if ((modes?.length ?? 0) === 0) problems.required(SPEC.child('accessModes'), 'at least one')
  for (const mode of modes ?? []) problems.oneOf(SPEC.child('accessModes'), mode, ACCESS_MODES)
}

function validateStorage(
  amounts: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
  problems: ProblemList,
): void {
  const storage = amounts?.['storage']
  if (storage === undefined) problems.required(path.key('storage'))
  else if ((tryParseQuantity(storage)?.nanos ?? 0n) <= 0n) {
    problems.invalid(path.key('storage'), storage, 'must be greater than zero')
  }
}

function sourcesOf(spec: PersistentVolumeSpec): readonly string[] {
  return Object.entries(spec)
    .filter(([name, value]) => !NO_SOURCE.has(name) && value !== undefined)
    .map(([name]) => name)
}
