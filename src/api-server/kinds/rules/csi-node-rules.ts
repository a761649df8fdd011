import type { CSINode, CSINodeDriver } from '../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { dnsSubdomain, qualifiedName } from '../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules } from '../resource.ts'
import { sameValue } from '../../../base/document/same-value.ts'

const DRIVERS = FieldPath.root.child('spec').child('drivers')
const LONGEST_NAME = 63
const LONGEST_ID = 256

export const csiNodeRules: ResourceRules<ObjectOf<CSINode>> = {
  validate: ({ spec: { drivers } }) => {
    const problems = new ProblemList()
    for (const [position, driver] of drivers.entries()) {
      const at = DRIVERS.index(position)
      validateDriver(driver, at, problems)
      const isSecond = drivers.findIndex(({ name }) => name === driver.name) < position
      if (isSecond) problems.duplicate(at.child('name'), driver.name)
    }
    return problems.violations
  },
  /** Only the count of a driver that stays may change. */
  validateUpdate: (node, before) => {
    const problems = new ProblemList()
    const old = new Map(before.spec.drivers.map((driver) => [driver.name, driver]))
    for (const driver of node.spec.drivers) {
      const was = old.get(driver.name)
      const isSame = was === undefined || sameValue(withoutCount(driver), withoutCount(was))
      if (!isSame) problems.invalid(DRIVERS, driver, 'field is immutable')
    }
    return problems.violations
  },
}

function withoutCount({ name, nodeID, topologyKeys = [] }: CSINodeDriver): object {
  return { name, nodeID, topologyKeys }
}

function validateDriver(
  { name, nodeID, topologyKeys: keys = [], allocatable }: CSINodeDriver,
  at: FieldPath,
  problems: ProblemList,
) {
  problems.name(at.child('name'), name.toLowerCase(), dnsSubdomain)
  if (name.length > LONGEST_NAME) problems.tooLong(at.child('name'), LONGEST_NAME)
  if (nodeID === '') problems.required(at.child('nodeID'))
  if (Buffer.byteLength(nodeID) > LONGEST_ID) problems.tooLong(at.child('nodeID'), LONGEST_ID)
  const count = allocatable?.count ?? 0
  if (count < 0) problems.invalid(at.child('allocatable').child('count'), count, 'must be greater than or equal to 0')
  for (const [position, key] of keys.entries()) {
    problems.name(at.child('topologyKeys').index(position), key, qualifiedName)
    if (keys.indexOf(key) < position) problems.duplicate(at.child('topologyKeys').index(position), key)
  }
}
