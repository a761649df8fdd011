import type { VolumeMount } from '../model/generated/core-v1.ts'
import { ContainerConfigError } from './config-error.ts'
import { expandVariables } from './expand-variables.ts'

/** Which part of a volume a container gets; empty for all of it. Variables of the container's environment are put in. */
export function computeSubPath(
  { subPath = '', subPathExpr = '' }: VolumeMount,
  environment: () => ReadonlyMap<string, string>,
): string {
  if (subPathExpr === '') return subPath
  const variables = environment()
  return expandVariables(subPathExpr, (name) => {
    const value = variables.get(name) ?? ''
    // An empty part would be another directory than the one that is meant.
    if (value === '') throw new ContainerConfigError(`missing value for "${name}"`)
    return value
  })
}
