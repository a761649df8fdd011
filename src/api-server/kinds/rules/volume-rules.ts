import type { CSIDriver, VolumeAttachment } from '../../../model/generated/api-groups.ts'
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec } from '../../../model/generated/core-v1.ts'
import { compareQuantities, tryParseQuantity } from '../../../model/resources/quantity.ts'
import type { Quantity } from '../../../model/resources/quantity.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { dnsSubdomain } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ApiObject, ObjectOf } from '../../store/api-object.ts'
import { validateLabelSelector } from '../../../model/schema/validation/validate-selectors.ts'
import { classNameOf, findDefaultClass } from '../../../model/storage/storage-classes.ts'
import { forbidden } from '../../api-error.ts'
import type { ResourceRules } from '../resource.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import { immutablePart, immutableSpecFields } from './immutable-fields.ts'
import { warnOfClaim, warnOfDriver, warnOfVolume } from '../warnings/warn-storage.ts'

const SPEC = FieldPath.root.child('spec')
const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
/** What keeps a volume or claim from being removed while it is used. */
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection'
export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection'
const NOT_RESIZED =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize'
const NOTHING: Quantity = { nanos: 0n, format: 'BinarySI' }
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

export const persistentVolumeRules: ResourceRules<ObjectOf<PersistentVolume>> = {
  warn: warnOfVolume,
  fillDefaults: ({ spec = {}, ...volume }) => ({
    ...volume,
    spec: {
      ...spec,
      persistentVolumeReclaimPolicy: spec.persistentVolumeReclaimPolicy || 'Retain',
      volumeMode: spec.volumeMode || 'Filesystem',
      ...(spec.hostPath && { hostPath: { ...spec.hostPath, type: spec.hostPath.type ?? '' } }),
    },
  }),
  prepareCreate: (volume) => ({ ...withFinalizer(volume, VOLUME_PROTECTION), status: { phase: 'Pending' } }),
  validate: ({ spec = {} }) => {
    const problems = new ProblemList()
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
    const { csi, local } = spec
    if (csi && !csi.driver) problems.required(SPEC.child('csi').child('driver'))
    if (csi && !csi.volumeHandle) problems.required(SPEC.child('csi').child('volumeHandle'))
    if (local && spec.nodeAffinity === undefined) {
      problems.required(SPEC.child('nodeAffinity'), 'a local volume is on a node')
    }
    return problems.violations
  },
  validateUpdate: ({ spec = {} }, { spec: old = {} }) => {
    const problems = new ProblemList()
    const source = (from: PersistentVolumeSpec) =>
      Object.fromEntries(Object.entries(from).filter(([name]) => !NO_SOURCE.has(name)))
    if (!sameValue(source(spec), source(old))) {
      problems.forbidden(SPEC, 'the source of a volume cannot change')
    }
    if (spec.volumeMode !== old.volumeMode) {
      problems.invalid(SPEC.child('volumeMode'), spec.volumeMode, 'field is immutable')
    }
    return problems.violations
  },
}

export const persistentVolumeClaimRules: ResourceRules<ObjectOf<PersistentVolumeClaim>> = {
  warn: warnOfClaim,
  fillDefaults: ({ spec = {}, ...claim }) => ({
    ...claim,
    spec: {
      ...spec,
      volumeMode: spec.volumeMode || 'Filesystem',
      // Two names of one thing.
      ...(spec.dataSource && { dataSourceRef: spec.dataSourceRef ?? spec.dataSource }),
    },
  }),
  prepareCreate: (claim, { objects }) => ({
    ...withFinalizer(
      withClass(claim, findDefaultClass(objects.list('storageclasses.storage.k8s.io'))),
      CLAIM_PROTECTION,
    ),
    status: { phase: 'Pending' },
  }),
  prepareUpdate: (claim, before, { objects }) => {
    if (before.status?.phase === 'Bound' && isLarger(claim, before)) {
      const name = classNameOf(claim) ?? ''
      const owner = objects.get({ resource: 'storageclasses.storage.k8s.io', namespace: '', name })
      const isSameClass = name !== '' && name === classNameOf(before)
      if (!isSameClass || owner?.allowVolumeExpansion !== true)
        throw forbidden({ group: '', resource: 'persistentvolumeclaims', name: claim.metadata.name ?? '' }, NOT_RESIZED)
    }
    return claim
  },
  validate: ({ spec = {} }) => {
    const problems = new ProblemList()
    validateModes(spec.accessModes, problems)
    validateStorage(spec.resources?.requests, SPEC.child('resources'), problems)
    problems.oneOf(SPEC.child('volumeMode'), spec.volumeMode, ['Block', 'Filesystem'])
    if (spec.storageClassName) problems.matches(SPEC.child('storageClassName'), spec.storageClassName, dnsSubdomain)
    if (spec.selector) validateLabelSelector(spec.selector, SPEC.child('selector'), problems)
    return problems.violations
  },
  validateUpdate: (claim, before) => {
    const { spec = {}, status } = claim
    const { spec: old = {} } = before
    const problems = new ProblemList()
    if (isLarger(before, claim) && compareQuantities(storageOf(spec), capacityOf(before)) <= 0) {
      const path = SPEC.child('resources').child('requests').child('storage')
      problems.forbidden(path, 'field can not be less than status.capacity')
    }
    if (status?.phase !== 'Bound' && !sameValue(spec.resources, old.resources)) {
      problems.forbidden(SPEC, 'a claim asks for another size only when it is bound')
    }
    const volumeName = old.volumeName ? {} : { volumeName: undefined }
    // The default class may come later than the claim.
    const storageClassName = classNameOf(before) === undefined ? { storageClassName: undefined } : {}
    const kept = { resources: undefined, volumeAttributesClassName: undefined, ...volumeName, ...storageClassName }
    if (!sameValue({ ...spec, ...kept }, { ...old, ...kept })) {
      problems.forbidden(SPEC, 'only resources.requests and volumeAttributesClassName of a claim may change')
    }
    return problems.violations
  },
}

export const csiDriverRules: ResourceRules<ObjectOf<CSIDriver>> = {
  warn: warnOfDriver,
  fillDefaults: (driver) => ({
    ...driver,
    spec: {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
      requiresRepublish: false,
      seLinuxMount: false,
      ...driver.spec,
    },
  }),
  validate: ({ spec }) => {
    const problems = new ProblemList()
    for (const mode of spec.volumeLifecycleModes ?? []) {
      problems.oneOf(SPEC.child('volumeLifecycleModes'), mode, ['Ephemeral', 'Persistent'])
    }
    problems.oneOf(SPEC.child('fsGroupPolicy'), spec.fsGroupPolicy, ['File', 'None', 'ReadWriteOnceWithFSType'])
    const audiences = new Set<string>()
    for (const [index, { audience }] of (spec.tokenRequests ?? []).entries()) {
      const path = SPEC.child('tokenRequests').index(index).child('audience')
      if (audiences.has(audience)) problems.duplicate(path, audience)
      audiences.add(audience)
    }
    return problems.violations
  },
  validateUpdate: immutableSpecFields(['attachRequired', 'volumeLifecycleModes']),
}

export const volumeAttachmentRules: ResourceRules<ObjectOf<VolumeAttachment>> = {
  prepareCreate: (attachment) => ({ ...attachment, status: { attached: false } }),
  validate: ({ spec }) => {
    const problems = new ProblemList()
    if (!spec.attacher) problems.required(SPEC.child('attacher'))
    if (!spec.nodeName) problems.required(SPEC.child('nodeName'))
    if (Object.keys(spec.source).length !== 1) {
      problems.required(SPEC.child('source'), 'either inlineVolumeSpec or persistentVolumeName')
    }
    return problems.violations
  },
  validateUpdate: immutablePart('spec'),
}

function withFinalizer<T extends ApiObject>(object: T, finalizer: string): T {
  const finalizers = object.metadata.finalizers ?? []
  if (finalizers.includes(finalizer)) return object
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } }
}

/** With the class of claims that name none. */
export function withClass<T extends ObjectOf<PersistentVolumeClaim>>(claim: T, className: string | undefined): T {
  if (className === undefined || classNameOf(claim) !== undefined) return claim
  return { ...claim, spec: { ...claim.spec, storageClassName: className } }
}

/** Whether a claim asks for more than another one. */
function isLarger({ spec }: PersistentVolumeClaim, { spec: than }: PersistentVolumeClaim): boolean {
  return compareQuantities(storageOf(spec), storageOf(than)) > 0
}

function storageOf(spec: PersistentVolumeClaim['spec']): Quantity {
  return tryParseQuantity(spec?.resources?.requests?.['storage'] ?? '0') ?? NOTHING
}

function capacityOf({ status }: PersistentVolumeClaim): Quantity {
  return tryParseQuantity(status?.capacity?.['storage'] ?? '0') ?? NOTHING
}

function validateModes(modes: readonly string[] | undefined, problems: ProblemList): void {
  if ((modes?.length ?? 0) === 0) problems.required(SPEC.child('accessModes'), 'at least one')
  for (const mode of modes ?? []) problems.oneOf(SPEC.child('accessModes'), mode, ACCESS_MODES)
  if (modes !== undefined && modes.length > 1 && modes.includes('ReadWriteOncePod')) {
    problems.forbidden(SPEC.child('accessModes'), 'ReadWriteOncePod stands alone')
  }
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
