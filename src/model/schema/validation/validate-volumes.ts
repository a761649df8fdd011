import type { PodSpec, Volume } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { dnsLabel } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'
import { validateFieldItems, validateKeyItems, validateMode, validateProjected } from './validate-volume-files.ts'
import { KIND_RULES, REQUIRED_FIELDS } from './validate-volume-kinds.ts'
import type { KindRule } from './validate-volume-kinds.ts'

type Kind = Exclude<keyof Volume, 'name'>

/** Volumes of a pod: a name used once, exactly one source, and the rules of its kind. */
export function validateVolumes(spec: PodSpec, podName: string, path: FieldPath, problems: ProblemList): void {
  const volumes = spec.volumes ?? []
  const names = new Set<string>()
  const made = new Set(volumes.filter(({ ephemeral }) => ephemeral).map(({ name }) => `${podName}-${name}`))
  for (const [index, volume] of volumes.entries()) {
    const at = path.index(index)
    problems.name(at.child('name'), volume.name, dnsLabel)
    if (names.has(volume.name)) problems.duplicate(at.child('name'), volume.name)
    names.add(volume.name)
    validateSource(volume, at, problems)
    validateFiles(volume, Boolean(spec.serviceAccountName), at, problems)
    const claim = volume.persistentVolumeClaim?.claimName
    if (claim !== undefined && made.has(claim)) {
      const rule = 'is the claim that an ephemeral volume of this pod makes'
      problems.invalid(at.child('persistentVolumeClaim').child('claimName'), claim, rule)
    }
  }
}

function validateSource(volume: Volume, path: FieldPath, problems: ProblemList): void {
  const kinds = Object.keys(REQUIRED_FIELDS) as Kind[]
  const [kind, ...others] = kinds.filter((each) => volume[each] !== undefined)
  if (kind === undefined) return problems.required(path, 'needs a source')
  for (const other of others) problems.forbidden(path.child(other), 'the volume has another source already')
  const source = volume[kind] as Readonly<Record<string, unknown>>
  const at = path.child(kind)
  for (const field of REQUIRED_FIELDS[kind]) {
    const value = source[field]
    if (!value || (Array.isArray(value) && value.length === 0)) problems.required(at.child(field))
  }
  const rule = KIND_RULES[kind] as KindRule<Kind> | undefined
  rule?.(volume[kind] as never, at, problems)
}

function validateFiles(volume: Volume, hasServiceAccount: boolean, path: FieldPath, problems: ProblemList): void {
  for (const name of ['secret', 'configMap'] as const) {
    validateMode(volume[name]?.defaultMode, path.child(name).child('defaultMode'), problems)
    validateKeyItems(volume[name]?.items ?? [], path.child(name).child('items'), problems)
  }
  if (volume.downwardAPI) {
    const at = path.child('downwardAPI')
    validateMode(volume.downwardAPI.defaultMode, at.child('defaultMode'), problems)
    validateFieldItems(volume.downwardAPI.items ?? [], at.child('items'), problems)
  }
  if (volume.projected) validateProjected(volume.projected, hasServiceAccount, path.child('projected'), problems)
}
