import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../../store/api-object.ts'
import type { ResourceRules, Subresource } from '../resource.ts'
import { sameValue } from '../same-value.ts'
import { immutableFields } from './immutable-fields.ts'

const SPEC = FieldPath.root.child('spec')
const SHORTEST_SECONDS = 600
const DECISIONS = ['Approved', 'Denied']

interface RequestStatus {
  readonly certificate?: string
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
}

/** Requests for certificates; who asks is what the server knows, not what is written. */
export const certificateSigningRequestRules: ResourceRules = {
  prepareCreate: (object, { user }) => ({
    ...object,
    spec: {
      ...(object['spec'] as object | undefined),
      username: user.name,
      uid: user.uid,
      groups: user.groups,
      extra: user.extra,
    },
    status: {},
  }),
  prepareUpdate: (object, before) => ({ ...object, spec: before['spec'] }),
  validate: (object) => {
    const problems = new ProblemList()
    const spec = (object['spec'] ?? {}) as {
      request?: string
      signerName?: string
      usages?: readonly string[]
      expirationSeconds?: number
    }
    const pem = Buffer.from(spec.request ?? '', 'base64').toString('latin1')
    if (!/-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/.test(pem)) {
      problems.invalid(SPEC.child('request'), pem.slice(0, 40), 'must be a certificate request in PEM form')
    }
    if (!/^[^/]+\.[^/]+\/.+$/.test(spec.signerName ?? '')) {
      problems.invalid(
        SPEC.child('signerName'),
        spec.signerName ?? '',
        'must be a domain and a name, such as "example.com/signer"',
      )
    }
    if ((spec.usages?.length ?? 0) === 0) problems.required(SPEC.child('usages'))
    if (spec.expirationSeconds !== undefined && spec.expirationSeconds < SHORTEST_SECONDS) {
      problems.invalid(SPEC.child('expirationSeconds'), spec.expirationSeconds, `must be at least ${SHORTEST_SECONDS}`)
    }
    return problems.violations
  },
  validateStatus: (object, before) => {
    const problems = new ProblemList()
    const [now, old] = [statusOf(object), statusOf(before)]
    const decided = (status: RequestStatus) => status.conditions?.filter(({ type }) => DECISIONS.includes(type)) ?? []
    if (!sameValue(decided(now), decided(old))) {
      problems.forbidden(FieldPath.root.child('status').child('conditions'), 'only the approval subresource may decide')
    }
    if (old.certificate && now.certificate !== old.certificate) {
      problems.forbidden(FieldPath.root.child('status').child('certificate'), 'an issued certificate stays')
    }
    return problems.violations
  },
}

/** Approval or denial by someone who may. */
export const approval: Subresource = {
  name: 'approval',
  verbs: ['get', 'patch', 'update'],
  merge: (object, before, { now }) => ({
    ...before,
    metadata: { ...before.metadata, resourceVersion: object.metadata.resourceVersion },
    status: {
      ...statusOf(before),
      conditions: (statusOf(object).conditions ?? []).map((each) => ({
        lastUpdateTime: now,
        lastTransitionTime: now,
        ...each,
      })),
    },
  }),
  validate: (object, before) => {
    const problems = new ProblemList()
    const path = FieldPath.root.child('status').child('conditions')
    const types = new Set((statusOf(object).conditions ?? []).map(({ type }) => type))
    if (DECISIONS.every((type) => types.has(type)))
      problems.invalid(path, 'Denied', 'a request is either approved or denied')
    for (const { type } of statusOf(before).conditions ?? []) {
      if (!types.has(type)) problems.forbidden(path, `the condition "${type}" stays`)
    }
    return problems.violations
  },
}

/** Authorities to trust; one of a signer is called after it, so that nobody is taken for another. */
export const trustBundleRules: ResourceRules = {
  validate: (object) => {
    const problems = new ProblemList()
    const { signerName = '', trustBundle = '' } = (object['spec'] ?? {}) as {
      signerName?: string
      trustBundle?: string
    }
    if (!/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.test(trustBundle)) {
      problems.invalid(SPEC.child('trustBundle'), trustBundle.slice(0, 40), 'must be certificates in PEM form')
    }
    const { name = '' } = object.metadata
    const prefix = `${signerName.replaceAll('/', ':')}:`
    if (signerName === '' ? name.includes(':') : !name.startsWith(prefix)) {
      const rule = signerName === '' ? 'must have no ":" without a signer' : `must begin with "${prefix}"`
      problems.invalid(FieldPath.root.child('metadata').child('name'), name, rule)
    }
    return problems.violations
  },
  validateUpdate: immutableFields('spec', ['signerName']),
}

function statusOf(object: ApiObject): RequestStatus {
  return object['status'] ?? {}
}
