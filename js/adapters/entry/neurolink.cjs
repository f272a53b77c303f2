'use strict';

module.exports = require('../neurolink.js');
