import { FieldPath } from '../../../model/schema/field-path.ts'
import { dnsSubdomain, qualifiedName } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ApiObject } from '../../store/api-object.ts'
import type { ResourceRules } from '../resource.ts'
import { sameValue } from '../same-value.ts'

interface Driver {
  readonly name?: string
  readonly nodeID?: string
  readonly topologyKeys?: readonly string[] | null
  readonly allocatable?: { readonly count?: number }
}

const DRIVERS = FieldPath.root.child('spec').child('drivers')
const LONGEST_NAME = 63
const LONGEST_ID = 256

export const csiNodeRules: ResourceRules = {
  validate: (object) => {
    const problems = new ProblemList()
    const drivers = driversOf(object)
    for (const [position, driver] of drivers.entries()) {
      const at = DRIVERS.index(position)
      validateDriver(driver, at, problems)
      const isSecond = drivers.findIndex(({ name }) => name === driver.name) < position
      if (isSecond) problems.duplicate(at.child('name'), driver.name)
    }
    return problems.violations
  },
  /** Of a driver that stays only the count may change. */
  validateUpdate: (object, before) => {
    const problems = new ProblemList()
    const old = new Map(driversOf(before).map((driver) => [driver.name, driver]))
    for (const driver of driversOf(object)) {
      const was = old.get(driver.name)
      const isSame = was === undefined || sameValue(withoutCount(driver), withoutCount(was))
      if (!isSame) problems.invalid(DRIVERS, driver, 'field is immutable')
    }
    return problems.violations
  },
}

function driversOf(object: ApiObject): readonly Driver[] {
  return (object['spec'] as { drivers?: readonly Driver[] | null } | undefined)?.drivers ?? []
}

function withoutCount({ name, nodeID, topologyKeys }: Driver): object {
  return { name, nodeID, topologyKeys: topologyKeys ?? [] }
}

function validateDriver(
  { name, nodeID = '', topologyKeys, allocatable }: Driver,
  at: FieldPath,
  problems: ProblemList,
) {
  problems.name(at.child('name'), name?.toLowerCase(), dnsSubdomain)
  if ((name ?? '').length > LONGEST_NAME) problems.tooLong(at.child('name'), LONGEST_NAME)
  if (nodeID === '') problems.required(at.child('nodeID'))
  if (Buffer.byteLength(nodeID) > LONGEST_ID) problems.tooLong(at.child('nodeID'), LONGEST_ID)
  const count = allocatable?.count ?? 0
  if (count < 0) problems.invalid(at.child('allocatable').child('count'), count, 'must be greater than or equal to 0')
  const keys = topologyKeys ?? []
  for (const [position, key] of keys.entries()) {
    problems.name(at.child('topologyKeys').index(position), key, qualifiedName)
    if (keys.indexOf(key) < position) problems.duplicate(at.child('topologyKeys').index(position), key)
  }
}
