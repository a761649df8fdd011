import type { IngressClass, IngressClassParametersReference } from '../../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { dnsLabel, dnsSubdomain } from '../../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { NameRule } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'

type StoredClass = ObjectOf<IngressClass>

const SPEC = FieldPath.root.child('spec')
const MOST_CONTROLLER_BYTES = 250
const SCOPES = ['Cluster', 'Namespace']
const HTTP_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

/** Who serves the Ingresses of a class. */
export const ingressClassRules: ResourceRules<StoredClass> = {
  fillDefaults: (ingressClass) => {
    const { spec = {} } = ingressClass
    if (spec.parameters === undefined) return ingressClass
    return {
      ...ingressClass,
      spec: { ...spec, parameters: { ...spec.parameters, scope: spec.parameters.scope ?? 'Cluster' } },
    }
  },
  validate: ({ spec = {} }) => {
    const problems = new ProblemList()
    validateController(spec.controller ?? '', problems)
    if (spec.parameters !== undefined) validateParameters(spec.parameters, problems)
    return problems.violations
  },
  validateUpdate: ({ spec }, before) => {
    const problems = new ProblemList()
    if (spec?.controller !== before.spec?.controller)
      problems.invalid(SPEC.child('controller'), spec?.controller, 'field is immutable')
    return problems.violations
  },
}

function validateController(controller: string, problems: ProblemList): void {
  const path = SPEC.child('controller')
  if (controller.length > MOST_CONTROLLER_BYTES) problems.tooLong(path, MOST_CONTROLLER_BYTES)
  if (controller === '') return problems.required(path)
  const slash = controller.indexOf('/')
  if (slash < 1 || slash === controller.length - 1)
    return problems.invalid(path, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')
  problems.matches(path, controller.slice(0, slash), dnsSubdomain)
  const rest = controller.slice(slash + 1)
  if (!HTTP_PATH.test(rest)) problems.invalid(path, rest, 'must have characters of a path behind the domain')
}

function validateParameters(parameters: IngressClassParametersReference, problems: ProblemList): void {
  const path = SPEC.child('parameters')
  validateReference(parameters, path, problems)
  const { scope, namespace } = parameters
  if (scope === undefined) return problems.required(path.child('scope'))
  if (!SCOPES.includes(scope)) return problems.unsupported(path.child('scope'), scope, SCOPES)
  const place = path.child('namespace')
  if (scope === 'Cluster') {
    if (namespace !== undefined) problems.forbidden(place, "`parameters.scope` is set to 'Cluster'")
  } else if (namespace === undefined) problems.required(place, "`parameters.scope` is set to 'Namespace'")
  else problems.matches(place, namespace, dnsLabel)
}

/** An object that is named by its kind, in no namespace or the own one. */
export function validateReference(
  { apiGroup, kind, name }: { readonly apiGroup?: string | undefined; readonly kind: string; readonly name: string },
  path: FieldPath,
  problems: ProblemList,
): void {
  if (apiGroup !== undefined) problems.matches(path.child('apiGroup'), apiGroup, dnsSubdomain)
  problems.name(path.child('kind'), kind, pathPart)
  problems.name(path.child('name'), name, pathPart)
}

const pathPart: NameRule = (value) =>
  value === '.' || value === '..' || /[/%]/.test(value) ? "may not be '.' or '..', nor contain '/' or '%'" : undefined
