import { sameValue } from '../../base/document/same-value.ts'
import { forbidden } from '../api-error.ts'
import { ADMIN_GROUP } from '../auth/user-names.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import type { RequestUser } from '../kinds/resource.ts'
import { isChangeOf } from '../lifecycle/change-set.ts'
import type { Change } from '../lifecycle/change-set.ts'
import { authorizeByRoles } from './authorize-by-roles.ts'
import { readRoles } from './roles.ts'

const GROUP = 'certificates.k8s.io'
const RESOURCE = 'certificatesigningrequests'
const DECISIONS = ['Approved', 'Denied']

/** Who decides about a certificate needs the right to do so for its signer, besides that to write the request. Throws an ApiError. */
export function admitCertificate(user: RequestUser, change: Change, objects: ObjectReader): void {
  if (!isChangeOf(change, 'certificatesigningrequests.certificates.k8s.io')) return
  const { key, before, after } = change
  if (before === undefined || after === undefined || user.groups.includes(ADMIN_GROUP)) return
  const decided = ({ status }: typeof after) => status?.conditions?.filter(({ type }) => DECISIONS.includes(type)) ?? []
  const verb = !sameValue(decided(before), decided(after))
    ? 'approve'
    : before.status?.certificate !== after.status?.certificate
      ? 'sign'
      : undefined
  const { signerName } = after.spec
  if (verb === undefined || may(user, verb, signerName, objects)) return
  const why = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`
  throw forbidden({ group: GROUP, resource: RESOURCE, name: key.name }, why)
}

function may(user: RequestUser, verb: string, signerName: string, objects: ObjectReader): boolean {
  const roles = readRoles(objects)
  const attributes = { user, isResource: true, verb, path: '', group: GROUP, resource: 'signers', subresource: '' }
  const allOfDomain = `${signerName.split('/')[0]}/*`
  return [signerName, allOfDomain].some(
    (name) => authorizeByRoles({ ...attributes, namespace: '', name, fields: {} }, roles).allowed,
  )
}
