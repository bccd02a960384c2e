/** Version of every Broadside package; a test keeps it equal to package.json. */
export const BROADSIDE_VERSION = '0.1.0';
