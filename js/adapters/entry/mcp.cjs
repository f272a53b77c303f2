'use strict';

module.exports = require('../mcp.js');
