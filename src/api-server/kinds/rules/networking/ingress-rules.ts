import { isIP } from 'node:net'
import type {
  HTTPIngressPath,
  HTTPIngressRuleValue,
  Ingress,
  IngressBackend,
  IngressServiceBackend,
} from '../../../../model/generated/api-groups.ts'
import {
  CLASS_ANNOTATION,
  findDefaultIngressClass,
  OWN_INGRESS_CONTROLLER,
} from '../../../../model/networking/ingress-classes.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { dnsLabel, dnsSubdomain, ipAddress, portName } from '../../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { validateReference } from './ingress-class-rules.ts'

type StoredIngress = ObjectOf<Ingress>

const SPEC = FieldPath.root.child('spec')
const CLASSES = 'ingressclasses.networking.k8s.io'
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix']
const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F']
const BAD_ENDS = ['/..', '/.']

/** Which requests from outside go to which service; src/controllers/network/ingress serves those of the node's own class. */
export const ingressRules: ResourceRules<StoredIngress> = {
  prepareCreate: (ingress, { objects }) => ({
    ...withClass(ingress, objects.list(CLASSES)),
    status: { loadBalancer: {} },
  }),
  isServedByOthers: (objects) => objects.list(CLASSES).some(({ spec }) => spec?.controller !== OWN_INGRESS_CONTROLLER),
  validate: validateIngress,
  validateCreate: ({ metadata, spec }) => {
    const problems = new ProblemList()
    const annotation = metadata.annotations?.[CLASS_ANNOTATION]
    const name = spec?.ingressClassName
    if (annotation !== undefined && name !== undefined && annotation !== name) {
      const path = FieldPath.root.child('annotations').child(CLASS_ANNOTATION)
      problems.invalid(path, annotation, 'must match `ingressClassName` when both are specified')
    }
    return problems.violations
  },
  validateStatus: ({ status }) => {
    const problems = new ProblemList()
    const path = FieldPath.root.child('status').child('loadBalancer').child('ingress')
    for (const [index, { ip, hostname }] of (status?.loadBalancer?.ingress ?? []).entries()) {
      if (ip) problems.matches(path.index(index).child('ip'), ip, ipAddress)
      if (hostname) validateName(hostname, path.index(index).child('hostname'), problems)
    }
    return problems.violations
  },
  warn: ({ metadata, spec }, before) =>
    before === undefined && metadata.annotations?.[CLASS_ANNOTATION] !== undefined && !spec?.ingressClassName
      ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
}

function withClass(ingress: StoredIngress, classes: Parameters<typeof findDefaultIngressClass>[0]): StoredIngress {
  const isNamed =
    ingress.spec?.ingressClassName !== undefined || ingress.metadata.annotations?.[CLASS_ANNOTATION] !== undefined
  const ingressClassName = isNamed ? undefined : findDefaultIngressClass(classes)
  return ingressClassName === undefined ? ingress : { ...ingress, spec: { ...ingress.spec, ingressClassName } }
}

function validateIngress({ spec = {} }: StoredIngress) {
  const problems = new ProblemList()
  const { defaultBackend, rules = [], tls = [], ingressClassName } = spec
  if (rules.length === 0 && defaultBackend === undefined)
    problems.invalid(SPEC, spec.rules, 'either `defaultBackend` or `rules` must be specified')
  if (defaultBackend !== undefined) validateBackend(defaultBackend, SPEC.child('defaultBackend'), problems)
  for (const [index, { host, http }] of rules.entries()) {
    const path = SPEC.child('rules').index(index)
    if (host) validateHost(host, path.child('host'), problems)
    if (http !== undefined) validatePaths(http, path.child('http').child('paths'), problems)
  }
  for (const [index, { hosts = [], secretName }] of tls.entries()) {
    const path = SPEC.child('tls').index(index)
    for (const [place, host] of hosts.entries())
      problems.matches(path.child('hosts').index(place), host, host.includes('*') ? wildcardName : dnsSubdomain)
    if (secretName) problems.matches(path.child('secretName'), secretName, dnsSubdomain)
  }
  if (ingressClassName !== undefined) problems.matches(SPEC.child('ingressClassName'), ingressClassName, dnsSubdomain)
  return problems.violations
}

function wildcardName(value: string): string | undefined {
  return value.length <= 253 && value.startsWith('*.') && dnsSubdomain(value.slice(2)) === undefined
    ? undefined
    : "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain (e.g. '*.example.com')"
}

function validateHost(host: string, path: FieldPath, problems: ProblemList): void {
  if (host.includes('*')) problems.matches(path, host, wildcardName)
  else validateName(host, path, problems)
}

function validateName(host: string, path: FieldPath, problems: ProblemList): void {
  if (isIP(host) !== 0) problems.invalid(path, host, 'must be a DNS name, not an IP address')
  problems.matches(path, host, dnsSubdomain)
}

function validatePaths({ paths }: HTTPIngressRuleValue, path: FieldPath, problems: ProblemList): void {
  if (paths.length === 0) problems.required(path)
  for (const [index, each] of paths.entries()) validatePath(each, path.index(index), problems)
}

function validatePath({ path = '', pathType, backend }: HTTPIngressPath, at: FieldPath, problems: ProblemList): void {
  if (!pathType) return problems.required(at.child('pathType'), 'pathType must be specified')
  const place = at.child('path')
  const isOwn = pathType === 'ImplementationSpecific'
  if (!PATH_TYPES.includes(pathType)) problems.unsupported(at.child('pathType'), pathType, PATH_TYPES)
  else if (!path.startsWith('/') && !(isOwn && path === '')) problems.invalid(place, path, 'must be an absolute path')
  if (pathType === 'Exact' || pathType === 'Prefix') {
    for (const bad of BAD_SEQUENCES) if (path.includes(bad)) problems.invalid(place, path, `must not contain '${bad}'`)
    for (const bad of BAD_ENDS) if (path.endsWith(bad)) problems.invalid(place, path, `cannot end with '${bad}'`)
  }
  validateBackend(backend, at.child('backend'), problems)
}

function validateBackend({ service, resource }: IngressBackend, path: FieldPath, problems: ProblemList): void {
  if (service !== undefined && resource !== undefined)
    problems.invalid(path, '', 'cannot set both resource and service backends')
  else if (resource !== undefined) validateReference(resource, path.child('resource'), problems)
  else if (service !== undefined) validateService(service, path, problems)
  else problems.invalid(path, '', 'resource or service backend is required')
}

function validateService({ name, port = {} }: IngressServiceBackend, path: FieldPath, problems: ProblemList): void {
  problems.name(path.child('service').child('name'), name, dnsLabel)
  const place = path.child('service').child('port')
  if (port.name && port.number) problems.invalid(path, '', 'cannot set both port name & port number')
  else if (port.name) problems.matches(place.child('name'), port.name, portName)
  else if (port.number) problems.inRange(place.child('number'), port.number, 1, 65_535)
  else problems.required(path, 'port name or number is required')
}
