import type { Container, EphemeralContainer, PodSpec, Volume } from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { dnsLabel } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'
import { validateEnv } from './validate-env.ts'
import { validateMounts } from './validate-mounts.ts'
import { validateHostPorts, validatePorts } from './validate-ports.ts'
import { forbidProbes, validateProbes } from './validate-probes.ts'
import type { ProbeContext } from './validate-probes.ts'
import { validateContainerResources } from './validate-resources.ts'
import { validateSecurityContext } from './validate-security-context.ts'

/** What the rules of a container need to know of its pod. */
export interface ContainerContext extends ProbeContext {
  readonly volumes: ReadonlyMap<string, Volume>
  readonly claims: ReadonlySet<string>
  readonly isHostUsers: boolean
  readonly podRestartPolicy: string | undefined
}

/** All containers of a pod; a name is used once over regular, init and ephemeral ones. */
export function validateContainers(
  spec: PodSpec,
  context: ContainerContext,
  path: FieldPath,
  problems: ProblemList,
): void {
  const names = new Set<string>()
  const regular = path.child('containers')
  if (spec.containers.length === 0) problems.required(regular)
  for (const [index, container] of spec.containers.entries()) {
    validateContainer(container, context, regular.index(index), problems)
    validateUniqueName(container, names, regular.index(index), problems)
    validateProbes(container, context, regular.index(index), problems)
    validateRestartRules(container, regular.index(index), problems)
  }
  validateHostPorts(spec.containers, regular, problems)
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const at = path.child('initContainers').index(index)
    validateContainer(container, context, at, problems)
    validateUniqueName(container, names, at, problems)
    validateInitContainer(container, context, at, problems)
  }
  for (const [index, container] of (spec.ephemeralContainers ?? []).entries()) {
    const at = path.child('ephemeralContainers').index(index)
    validateContainer(container, context, at, problems)
    validateEphemeralContainer(container, new Set(names), at, problems)
    validateUniqueName(container, names, at, problems)
  }
}

function validateUniqueName(container: Container, names: Set<string>, path: FieldPath, problems: ProblemList): void {
  if (!container.name) return
  if (names.has(container.name)) problems.duplicate(path.child('name'), container.name)
  names.add(container.name)
}

function validateInitContainer(
  container: Container,
  context: ContainerContext,
  path: FieldPath,
  problems: ProblemList,
): void {
  validateRestartRules(container, path, problems)
  if (container.restartPolicy === 'Always') {
    validateProbes(container, context, path, problems)
    return
  }
  forbidProbes(container, path, problems)
  for (const [index, policy] of (container.resizePolicy ?? []).entries()) {
    if (policy.restartPolicy !== 'RestartContainer') continue
    const at = path.child('resizePolicy').index(index).child('restartPolicy')
    problems.invalid(at, policy.restartPolicy, 'must not be RestartContainer for init containers that are no sidecars')
  }
}

const FORBIDDEN_FOR_EPHEMERAL = [
  'ports',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
] as const

function validateEphemeralContainer(
  container: EphemeralContainer,
  others: ReadonlySet<string>,
  path: FieldPath,
  problems: ProblemList,
): void {
  const target = container.targetContainerName
  if (target && !others.has(target)) problems.notFound(path.child('targetContainerName'), target)
  for (const name of FORBIDDEN_FOR_EPHEMERAL) {
    if (container[name] !== undefined) problems.forbidden(path.child(name), 'has no meaning for an ephemeral container')
  }
}

/** What holds for a container of any list. */
function validateContainer(
  container: Container,
  context: ContainerContext,
  path: FieldPath,
  problems: ProblemList,
): void {
  problems.name(path.child('name'), container.name, dnsLabel)
  if (!container.image) problems.required(path.child('image'))
  else if (container.image !== container.image.trim()) {
    problems.invalid(path.child('image'), container.image, 'has spaces around it')
  }
  problems.oneOf(path.child('imagePullPolicy'), container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never'])
  const policies = ['FallbackToLogsOnError', 'File']
  problems.oneOf(path.child('terminationMessagePolicy'), container.terminationMessagePolicy, policies)
  validatePorts(container.ports ?? [], path.child('ports'), problems)
  validateEnv(container, path, problems)
  validateMounts(container, context.volumes, path, problems)
  validateContainerResources(container.resources ?? {}, context.claims, path.child('resources'), problems)
  validateResizePolicy(container, context.podRestartPolicy, path.child('resizePolicy'), problems)
  if (container.securityContext) {
    const at = path.child('securityContext')
    validateSecurityContext(container.securityContext, context.isHostUsers, at, problems)
  }
}

function validateResizePolicy(
  container: Container,
  podRestartPolicy: string | undefined,
  path: FieldPath,
  problems: ProblemList,
): void {
  const seen = new Set<string>()
  for (const [index, policy] of (container.resizePolicy ?? []).entries()) {
    const at = path.index(index)
    if (seen.has(policy.resourceName)) problems.duplicate(at, policy.resourceName)
    seen.add(policy.resourceName)
    problems.oneOf(at.child('resourceName'), policy.resourceName, ['cpu', 'memory'])
    problems.oneOf(at.child('restartPolicy'), policy.restartPolicy, ['NotRequired', 'RestartContainer'])
    if (podRestartPolicy === 'Never' && policy.restartPolicy === 'RestartContainer') {
      const rule = 'must be NotRequired in a pod that never restarts'
      problems.invalid(at.child('restartPolicy'), policy.restartPolicy, rule)
    }
  }
}

const MAX_RULES = 20
const MAX_EXIT_CODES = 255

/** A container's own restart policy and its rules by exit code. */
function validateRestartRules(container: Container, path: FieldPath, problems: ProblemList): void {
  const rules = container.restartPolicyRules ?? []
  const at = path.child('restartPolicyRules')
  if (container.restartPolicy !== undefined) {
    problems.oneOf(path.child('restartPolicy'), container.restartPolicy, ['Always', 'Never', 'OnFailure'])
  } else if (rules.length > 0) problems.required(path.child('restartPolicy'), 'restart rules need it')
  if (rules.length > MAX_RULES) problems.tooMany(at, rules.length, MAX_RULES)
  for (const [index, rule] of rules.entries()) {
    problems.oneOf(at.index(index).child('action'), rule.action, ['Restart', 'RestartAllContainers'])
    const codes = at.index(index).child('exitCodes')
    if (rule.exitCodes === undefined) {
      problems.required(codes, 'a rule needs them')
      continue
    }
    problems.oneOf(codes.child('operator'), rule.exitCodes.operator, ['In', 'NotIn'])
    const count = rule.exitCodes.values?.length ?? 0
    if (count > MAX_EXIT_CODES) problems.tooMany(codes.child('values'), count, MAX_EXIT_CODES)
  }
}
