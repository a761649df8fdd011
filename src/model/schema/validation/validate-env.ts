import type { Container, EnvFromSource, EnvVar, EnvVarSource, PodSpec } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { configKey, dnsLabel, dnsSubdomain, envName, noBacksteps } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'
import { ENV_FIELDS, validateFieldRef, validateResourceFieldRef } from './validate-field-refs.ts'

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'] as const

/** Environment of one container, single variables and whole maps. */
export function validateEnv(container: Container, path: FieldPath, problems: ProblemList): void {
  for (const [index, variable] of (container.env ?? []).entries()) {
    validateVariable(variable, path.child('env').index(index), problems)
  }
  for (const [index, source] of (container.envFrom ?? []).entries()) {
    validateEnvFrom(source, path.child('envFrom').index(index), problems)
  }
}

function validateVariable(variable: EnvVar, path: FieldPath, problems: ProblemList): void {
  problems.name(path.child('name'), variable.name, envName)
  const source = variable.valueFrom
  if (source === undefined) return
  const at = path.child('valueFrom')
  const count = SOURCES.filter((name) => source[name] !== undefined).length
  if (count === 0) problems.invalid(at, '', `must specify one of: ${SOURCES.join(', ')}`)
  else if (variable.value) problems.invalid(at, '', 'the variable already has a value')
  else if (count > 1) problems.invalid(at, '', 'has several sources, expected one')
  validateSource(source, at, problems)
}

function validateSource(source: EnvVarSource, path: FieldPath, problems: ProblemList): void {
  if (source.fieldRef) validateFieldRef(source.fieldRef, ENV_FIELDS, path.child('fieldRef'), problems)
  if (source.resourceFieldRef) {
    validateResourceFieldRef(source.resourceFieldRef, path.child('resourceFieldRef'), problems)
  }
  for (const name of ['configMapKeyRef', 'secretKeyRef'] as const) {
    const reference = source[name]
    if (reference === undefined) continue
    problems.name(path.child(name).child('name'), reference.name, dnsSubdomain)
    problems.name(path.child(name).child('key'), reference.key, configKey)
  }
  if (source.fileKeyRef) {
    const at = path.child('fileKeyRef')
    problems.name(at.child('key'), source.fileKeyRef.key, envName)
    problems.name(at.child('volumeName'), source.fileKeyRef.volumeName, dnsLabel)
    problems.name(at.child('path'), source.fileKeyRef.path, noBacksteps)
  }
}

function validateEnvFrom(source: EnvFromSource, path: FieldPath, problems: ProblemList): void {
  if (source.prefix) problems.matches(path.child('prefix'), source.prefix, envName)
  const given = (['configMapRef', 'secretRef'] as const).filter((name) => source[name] !== undefined)
  if (given.length === 0) problems.invalid(path, '', 'must specify one of: configMapRef, secretRef')
  if (given.length > 1) problems.invalid(path, '', 'has several sources, expected one')
  for (const name of given) problems.name(path.child(name).child('name'), source[name]?.name, dnsSubdomain)
}

/** Variables that come from files need an emptyDir to hold them. */
export function validateFileKeys(spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      for (const [position, variable] of (container.env ?? []).entries()) {
        const name = variable.valueFrom?.fileKeyRef?.volumeName
        if (!name) continue
        const reference = path
          .child(list)
          .index(index)
          .child('env')
          .index(position)
          .child('valueFrom')
          .child('fileKeyRef')
        const volume = spec.volumes?.find((each) => each.name === name)
        if (volume === undefined) problems.notFound(reference.child('volumeName'), name)
        else if (volume.emptyDir === undefined) {
          problems.invalid(reference.child('volumeName'), name, 'must be an emptyDir volume')
        }
      }
    }
  }
}
