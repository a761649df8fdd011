import type { PodResourceClaim, PodSpec } from '../generated/core-v1.ts'
import type { ManifestPod } from './default-pod.ts'
import { FieldPath } from './field-path.ts'
import { dnsLabel, dnsSubdomain } from './validation/name-rules.ts'
import { ProblemList } from './validation/problem-list.ts'
import type { Violation } from './validation/problem-list.ts'
import { validateContainers } from './validation/validate-containers.ts'
import { validateFileKeys } from './validation/validate-env.ts'
import { validateMetadata } from './validation/validate-metadata.ts'
import { validateNetwork } from './validation/validate-network.ts'
import { validateOverhead, validatePodResources } from './validation/validate-resources.ts'
import { validateScheduling } from './validation/validate-scheduling.ts'
import { validatePodSecurityContext } from './validation/validate-security-context.ts'
import { validateVolumes } from './validation/validate-volumes.ts'

const MAX_INT32 = 2 ** 31 - 1

/** What is legal only where a feature is on. */
export interface PodRules {
  /** Users of their own for pods in the network of the node. Parity: the gate UserNamespacesHostNetworkSupport. */
  readonly userNamespacesHostNetwork?: boolean
}

/** Every rule that the API server has for creating a pod; takes a defaulted pod, gives all that is wrong with it. */
export function validatePod(pod: ManifestPod, root = FieldPath.root, rules: PodRules = {}): readonly Violation[] {
  const problems = new ProblemList()
  const path = root.child('spec')
  const { metadata, spec } = pod
  validateMetadata(metadata, spec, root.child('metadata'), problems)
  validateVolumes(spec, metadata.name ?? '', path.child('volumes'), problems)
  validateResourceClaims(spec.resourceClaims ?? [], path.child('resourceClaims'), problems)
  validateContainers(spec, containerContext(spec), path, problems)
  validatePodResources(spec, path, problems)
  validateNetwork(spec, path, problems)
  validateScheduling(spec, path, problems)
  if (spec.securityContext) {
    validatePodSecurityContext(spec.securityContext, spec, path.child('securityContext'), problems)
  }
  validateLimits(spec, path, problems)
  validateNamespaces(spec, { path, rules }, problems)
  validateOs(spec, path, problems)
  validateFileKeys(spec, path, problems)
  return problems.violations
}

function containerContext(spec: PodSpec) {
  return {
    volumes: new Map((spec.volumes ?? []).map((volume) => [volume.name, volume])),
    claims: new Set((spec.resourceClaims ?? []).map(({ name }) => name)),
    isHostUsers: spec.hostUsers !== false,
    podRestartPolicy: spec.restartPolicy,
    gracePeriodSeconds: spec.terminationGracePeriodSeconds ?? 0,
    os: spec.os?.name,
  }
}

function validateLimits(spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  problems.oneOf(path.child('restartPolicy'), spec.restartPolicy, ['Always', 'Never', 'OnFailure'])
  problems.inRange(path.child('activeDeadlineSeconds'), spec.activeDeadlineSeconds, 1, MAX_INT32)
  problems.notNegative(path.child('terminationGracePeriodSeconds'), spec.terminationGracePeriodSeconds)
  if (spec.runtimeClassName !== undefined) {
    problems.matches(path.child('runtimeClassName'), spec.runtimeClassName, dnsSubdomain)
  }
  if (spec.overhead) validateOverhead(spec.overhead, path.child('overhead'), problems)
  if ((spec.ephemeralContainers?.length ?? 0) > 0) {
    problems.forbidden(path.child('ephemeralContainers'), 'a new pod has none')
  }
}

/** Which namespaces of the host the pod shares, and what that rules out. */
function validateNamespaces(
  spec: PodSpec,
  { path, rules }: { readonly path: FieldPath; readonly rules: PodRules },
  problems: ProblemList,
): void {
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    problems.invalid(path.child('shareProcessNamespace'), true, 'must not be true when hostPID is true')
  }
  if (spec.hostUsers !== false) return
  const shared = rules.userNamespacesHostNetwork === true ? [] : (['hostNetwork'] as const)
  for (const name of [...shared, 'hostPID', 'hostIPC'] as const) {
    if (spec[name] === true) problems.forbidden(path.child(name), 'not together with hostUsers: false')
  }
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      if ((container.volumeDevices?.length ?? 0) === 0) continue
      problems.forbidden(path.child(list).index(index).child('volumeDevices'), 'not together with hostUsers: false')
    }
  }
}

function validateOs(spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  if (spec.os !== undefined) problems.oneOf(path.child('os').child('name'), spec.os.name, ['linux', 'windows'])
  if (spec.os?.name !== 'linux') return
  const rule = 'this pod says that it is for linux'
  if (spec.securityContext?.windowsOptions) {
    problems.forbidden(path.child('securityContext').child('windowsOptions'), rule)
  }
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      if (!container.securityContext?.windowsOptions) continue
      problems.forbidden(path.child(list).index(index).child('securityContext').child('windowsOptions'), rule)
    }
  }
}

function validateResourceClaims(claims: readonly PodResourceClaim[], path: FieldPath, problems: ProblemList): void {
  const names = new Set<string>()
  for (const [index, claim] of claims.entries()) {
    const at = path.index(index)
    problems.name(at.child('name'), claim.name, dnsLabel)
    if (names.has(claim.name)) problems.duplicate(at.child('name'), claim.name)
    names.add(claim.name)
    const given = (['resourceClaimName', 'resourceClaimTemplateName'] as const).filter(
      (name) => claim[name] !== undefined,
    )
    if (given.length !== 1) {
      problems.invalid(at, claim.name, 'must specify exactly one of resourceClaimName and resourceClaimTemplateName')
    }
    for (const name of given) problems.matches(at.child(name), claim[name] ?? '', dnsSubdomain)
  }
}
