import manifest from '../../package.json' with { type: 'json' };

/** This package's version, as built. */
export const omnimeterVersion: string = manifest.version;
